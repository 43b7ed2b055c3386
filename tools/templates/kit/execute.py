"""Run a lesson in the environment of the kit."""

import sys
import tempfile

import nbformat
from kernels import socket_kernel_manager
from nbclient import NotebookClient

lesson = nbformat.read(sys.argv[1], as_version=4)
with tempfile.TemporaryDirectory() as sockets:
    manager = socket_kernel_manager(sockets)
    options = {"kernel_name": "python3", "kernel_manager_class": manager}
    NotebookClient(lesson, timeout=300, **options).execute()
