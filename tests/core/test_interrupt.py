"""Ctrl-C as a question between steps."""

import os
import signal
import threading

import pytest

from nefty.core.interrupt import Interrupt


def ctrl_c():
    os.kill(os.getpid(), signal.SIGINT)


def test_nothing_was_asked_at_first():
    with Interrupt() as interrupt:
        assert not interrupt.asked


def test_the_first_ctrl_c_only_asks():
    with Interrupt() as interrupt:
        ctrl_c()
        assert interrupt.asked


def test_the_second_ctrl_c_ends_it():
    with Interrupt() as interrupt:
        ctrl_c()
        assert interrupt.asked
        with pytest.raises(KeyboardInterrupt):
            ctrl_c()


def test_what_was_there_before_is_put_back():
    before = signal.getsignal(signal.SIGINT)
    with Interrupt():
        assert signal.getsignal(signal.SIGINT) != before
    assert signal.getsignal(signal.SIGINT) == before
    with pytest.raises(RuntimeError), Interrupt():
        raise RuntimeError
    assert signal.getsignal(signal.SIGINT) == before
    with pytest.raises(KeyboardInterrupt):
        ctrl_c()


def test_one_within_another_leaves_the_outer_in_charge():
    with Interrupt() as outer:
        with Interrupt() as inner:
            ctrl_c()
        assert inner.asked
        assert not outer.asked
        ctrl_c()
        assert outer.asked


def test_in_another_thread_nothing_changes():
    before, seen = signal.getsignal(signal.SIGINT), []

    def work():
        with Interrupt() as interrupt:
            seen.append((signal.getsignal(signal.SIGINT), interrupt.asked))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [(before, False)]
    assert signal.getsignal(signal.SIGINT) == before
