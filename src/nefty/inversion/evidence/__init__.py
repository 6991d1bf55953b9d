"""Whether the frames show a defect: matched filters over what the sound part leaves unexplained."""
