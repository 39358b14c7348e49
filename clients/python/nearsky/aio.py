"""The client for asyncio: the methods of `Nearsky`, awaited.

    from nearsky.aio import AsyncNearsky

    service = AsyncNearsky("http://127.0.0.1:8080")
    print((await service.object(313637935709683761))["status"])
    async for found in service.cone(61.62, -49.29, 30):
        print(found["diaObjectId"])

Requests run in threads, so the event loop stays free; nothing else needs to be installed. A cancelled task no longer waits for its
request. The request itself ends at the latest after `timeout_seconds`, and no further ones are sent, except to remove a job.
"""

from __future__ import annotations

import asyncio
import functools
import threading
from typing import TYPE_CHECKING, Any, AsyncIterator, Awaitable, Callable, Iterator, TypeVar

from nearsky import CANCELLED, Nearsky, Progress, Walk, Watch

if TYPE_CHECKING:
    from typing_extensions import Concatenate, ParamSpec

    Given = ParamSpec("Given")

Answer = TypeVar("Answer")
Row = dict[str, Any]

__all__ = ["AsyncNearsky", "AsyncWalk", "AsyncWatch"]


def _awaited(method: Callable[Concatenate[Nearsky, Given], Answer]) -> Callable[Concatenate[AsyncNearsky, Given], Awaitable[Answer]]:
    async def call(self: AsyncNearsky, /, *args: Given.args, **options: Given.kwargs) -> Answer:
        cancelled = threading.Event()
        token = CANCELLED.set(cancelled)
        try:
            return await asyncio.to_thread(method, self._service, *args, **options)
        except asyncio.CancelledError:
            cancelled.set()
            raise
        finally:
            CANCELLED.reset(token)

    functools.update_wrapper(call, method)
    return call


def _walked(method: Callable[Concatenate[Nearsky, Given], Walk]) -> Callable[Concatenate[AsyncNearsky, Given], AsyncWalk]:
    def call(self: AsyncNearsky, /, *args: Given.args, **options: Given.kwargs) -> AsyncWalk:
        return AsyncWalk(method(self._service, *args, **options))

    functools.update_wrapper(call, method)
    return call


def _watched(method: Callable[Concatenate[Nearsky, Given], Watch]) -> Callable[Concatenate[AsyncNearsky, Given], AsyncWatch]:
    def call(self: AsyncNearsky, /, *args: Given.args, **options: Given.kwargs) -> AsyncWatch:
        return AsyncWatch(method(self._service, *args, **options))

    functools.update_wrapper(call, method)
    return call


def _iterated(method: Callable[Concatenate[Nearsky, Given], Iterator[Row]]) -> Callable[Concatenate[AsyncNearsky, Given], AsyncIterator[Row]]:
    def call(self: AsyncNearsky, /, *args: Given.args, **options: Given.kwargs) -> AsyncIterator[Row]:
        return _in_threads(method(self._service, *args, **options))

    functools.update_wrapper(call, method)
    return call


_END = object()


async def _in_threads(items: Iterator[Row]) -> AsyncIterator[Row]:
    while True:
        item: Any = await asyncio.to_thread(next, items, _END)
        if item is _END:
            return
        yield item


class AsyncWalk:
    """A `Walk` for `async for`: objects, or pages by `pages()`."""

    def __init__(self, walk: Walk) -> None:
        self._walk = walk

    @property
    def cursor(self) -> str | None:
        """The cursor of the page that is being returned, or is next."""
        return self._walk.cursor

    @property
    def is_done(self) -> bool:
        """Whether all pages were returned."""
        return self._walk.is_done

    def pages(self) -> AsyncIterator[Row]:
        """The pages as the API returns them."""
        return _in_threads(self._walk.pages())

    def __aiter__(self) -> AsyncIterator[Row]:
        return _in_threads(iter(self._walk))


class AsyncWatch:
    """`Watch` for `async for`. The iteration ends only when you stop it. The reading thread does not keep the program running."""

    def __init__(self, watch: Watch) -> None:
        self._watch = watch

    @property
    def last_id(self) -> str | None:
        """The position of the last returned event; None before the first connection."""
        return self._watch.last_id

    async def __aiter__(self) -> AsyncIterator[Row]:
        loop = asyncio.get_running_loop()
        # The reader fetches the next event only after this one was taken, so that `last_id` is right.
        slot: asyncio.Queue[Row | BaseException] = asyncio.Queue(1)
        wanted = threading.Semaphore(0)
        is_over = False

        def read() -> None:
            try:
                wanted.acquire()
                for event in self._watch:
                    if is_over:
                        return
                    loop.call_soon_threadsafe(slot.put_nowait, event)
                    wanted.acquire()
                    if is_over:
                        return
            except BaseException as error:
                if not is_over:
                    loop.call_soon_threadsafe(slot.put_nowait, error)

        threading.Thread(target=read, name="nearsky-watch", daemon=True).start()
        try:
            while True:
                wanted.release()
                item = await slot.get()
                if isinstance(item, BaseException):
                    raise item
                yield item
        finally:
            is_over = True
            wanted.release()


class AsyncNearsky:
    """A nearsky service with the parameters, methods and errors of `Nearsky`.

    Use `lookups`, walks, `watch` and `matches` with `async for`; await everything else. `on_progress` is called in a thread.
    """

    def __init__(
        self,
        address: str,
        concurrency: int = 4,
        timeout_seconds: float = 60.0,
        on_progress: Progress | None = None,
    ) -> None:
        self._service = Nearsky(address, concurrency, timeout_seconds, on_progress)

    @property
    def journal_entry(self) -> int | None:
        """The journal entry of the latest answer that has one, for `at`. None if the service keeps no history."""
        return self._service.journal_entry

    object = _awaited(Nearsky.object)
    tns = _awaited(Nearsky.tns)
    describe = _awaited(Nearsky.describe)
    status = _awaited(Nearsky.status)
    validation = _awaited(Nearsky.validation)
    lookup = _awaited(Nearsky.lookup)
    sources = _awaited(Nearsky.sources)
    crossmatch = _awaited(Nearsky.crossmatch)
    sample = _awaited(Nearsky.sample)
    keep_sample = _awaited(Nearsky.keep_sample)
    kept_sample = _awaited(Nearsky.kept_sample)
    delete_kept_sample = _awaited(Nearsky.delete_kept_sample)
    query = _awaited(Nearsky.query)
    count_area = _awaited(Nearsky.count_area)
    lookups = _iterated(Nearsky.lookups)
    cone = _walked(Nearsky.cone)
    recent = _walked(Nearsky.recent)
    area = _walked(Nearsky.area)
    objects = _walked(Nearsky.objects)
    matches = _watched(Nearsky.matches)
    watch = _watched(Nearsky.watch)
