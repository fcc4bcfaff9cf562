"""`Interrupt`: ■ in a notebook, or Ctrl-C, stops a loop between two steps and not in the middle of one."""

import signal
import threading


class Interrupt:
    """While it is open the first interrupt only sets `came`; the next one acts as it would have before.

    `with Interrupt() as interrupt: while not interrupt.came: ...`. In a thread other than the main one,
    where no interrupt arrives, it does nothing.
    """

    def __enter__(self):
        self.came = False
        # Only the main thread may set a handler.
        self._set = threading.current_thread() is threading.main_thread()
        if self._set:
            self._before = signal.getsignal(signal.SIGINT) or signal.default_int_handler
            signal.signal(signal.SIGINT, self._first)
        return self

    def _first(self, number, frame):
        self.came = True
        signal.signal(signal.SIGINT, self._before)

    def __exit__(self, *error):
        if self._set:
            signal.signal(signal.SIGINT, self._before)
