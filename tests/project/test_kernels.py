"""Replies of kernels are noticed, also where they arrive while something is sent."""

import asyncio
import select
from concurrent.futures import ThreadPoolExecutor

import pytest
import zmq.asyncio
from jupyter_client.channels import AsyncZMQSocketChannel
from jupyter_client.session import Session
from project.tools import load_tool

kernels = load_tool("kernels")


async def reply_that_arrives_while_an_update_is_sent(kind, address, seconds):
    """Return the type of a cell's reply; a slider sends its update when the reply is there."""
    session = Session()
    with zmq.Context() as blocking, zmq.asyncio.Context() as waiting:
        kernel, ours = blocking.socket(zmq.DEALER), waiting.socket(zmq.DEALER)
        with kernel, ours:
            kernel.bind(address)
            ours.connect(address)
            channel = kind(ours, session)
            channel.send(session.msg("kernel_info_request"))
            kernel.poll()
            session.send(kernel, "kernel_info_reply")
            await channel.get_msg()

            reply = asyncio.ensure_future(channel.get_msg())
            await asyncio.sleep(0.1)  # it waits
            session.send(kernel, "execute_reply")
            assert select.select([ours.FD], [], [])[0]  # the loop is busy, the reply there
            channel.send(session.msg("comm_msg"))
            found = await asyncio.wait_for(reply, seconds)
    return found["msg_type"]


def ended(call):
    """Return what a call gives, in a thread of its own: a browser may run its loop in this."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, call).result()


def test_no_reply_is_lost(tmp_path):
    shell = kernels.KernelClient.shell_channel_class.klass
    call = reply_that_arrives_while_an_update_is_sent(shell, f"ipc://{tmp_path}/shell", 300)
    assert ended(call) == "execute_reply"


def test_a_channel_of_jupyter_client_loses_it(tmp_path):
    """Once it does not, there is no need for a channel of ours."""
    address = f"ipc://{tmp_path}/shell"
    call = reply_that_arrives_while_an_update_is_sent(AsyncZMQSocketChannel, address, 1)
    with pytest.raises(TimeoutError):
        ended(call)


def test_the_kernels_of_notebooks_have_that_channel(tmp_path):
    manager = kernels.socket_kernel_manager(str(tmp_path))(kernel_name="python3")
    assert manager.transport == "ipc"
    assert manager.client().shell_channel_class is kernels.ShellChannel
