"""The kernels that notebooks run in, as papermill and nbclient start them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from jupyter_client.manager import AsyncKernelManager
from traitlets import default


def socket_kernel_manager(folder: str, environment: Mapping[str, str] | None = None) -> type:
    """Return a kernel manager that talks through socket files in a folder of its own.

    Kernels started side by side can be given the same free TCP port, or the same name of a socket
    in the folder that they run in, and one of them dies.
    """

    class SocketKernelManager(AsyncKernelManager):
        transport = "ipc"

        @default("ip")
        def _ip(self) -> str:
            return str(Path(folder) / "kernel")

        async def start_kernel(self, **options) -> None:
            await super().start_kernel(**options, env={**os.environ, **(environment or {})})

    return SocketKernelManager
