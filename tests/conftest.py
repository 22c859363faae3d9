import os

# Threads that wait for work must not spin: on a busy machine this costs ten times the work. Read when torch is loaded.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")
