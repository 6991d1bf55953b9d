"""Ctrl-C as a question between steps."""

import os
import signal
import subprocess
import sys
import threading
import time

import pytest

from nefty.core.interrupt import Interrupt, ctrl_c_kept_from_children


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


def test_ctrl_c_while_children_are_started_is_not_lost():
    with Interrupt() as interrupt:
        with ctrl_c_kept_from_children():
            ctrl_c()
        time.sleep(0.1)  # another thread may have taken it
        assert interrupt.asked


ENDED_BY_CTRL_C = """
import os, signal
signal.signal(signal.SIGINT, signal.default_int_handler)
os.kill(os.getpid(), signal.SIGINT)
"""


def test_children_do_not_get_it():
    program = [sys.executable, "-c", ENDED_BY_CTRL_C]
    assert subprocess.run(program, check=False, capture_output=True).returncode != 0
    with ctrl_c_kept_from_children():
        assert subprocess.run(program, check=False, capture_output=True).returncode == 0
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, [])
