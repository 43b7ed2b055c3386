"""The kernels that notebooks run in, as papermill and nbclient start them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import zmq
from jupyter_client.asynchronous.client import AsyncKernelClient
from jupyter_client.channels import AsyncZMQSocketChannel
from jupyter_client.manager import AsyncKernelManager
from traitlets import Type, default


class ShellChannel(AsyncZMQSocketChannel):
    """A shell channel that notices replies which arrive while something is sent.

    Sliders make nbclient send updates while it waits for the reply of a cell. That a reply is
    there is signalled once, sending takes the signal, and the wait never ends
    (https://github.com/jupyter/nbclient/issues/312).
    """

    def send(self, msg: dict) -> None:
        """Send a message, and see what has arrived."""
        super().send(msg)
        self.socket.get(zmq.EVENTS)  # who asks what has arrived hands it on to those who wait


class KernelClient(AsyncKernelClient):
    """A client whose shell channel loses no reply."""

    shell_channel_class = Type(ShellChannel)


def socket_kernel_manager(folder: str, environment: Mapping[str, str] | None = None) -> type:
    """Return a kernel manager that talks through socket files in a folder of its own.

    Kernels started side by side can be given the same free TCP port, or the same name of a socket
    in the folder that they run in, and one of them dies.
    """

    class SocketKernelManager(AsyncKernelManager):
        client_factory = Type(KernelClient)
        transport = "ipc"

        @default("ip")
        def _ip(self) -> str:
            return str(Path(folder) / "kernel")

        async def start_kernel(self, **options) -> None:
            await super().start_kernel(**options, env={**os.environ, **(environment or {})})

    return SocketKernelManager
