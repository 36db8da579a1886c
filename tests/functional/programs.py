"""Small programs, each of which prints something that a script can see of the way it was started or ends."""

from __future__ import annotations

from textwrap import dedent

_SEEN = {
    "argv": """
        import sys
        print(sys.argv, sys.orig_argv[1:])
        """,
    "attributes_of_main": """
        import sys
        main = sys.modules["__main__"]
        shown = {k: v for k, v in sorted(vars(main).items()) if k != "__loader__"}
        print(shown, main)
        print(type(__loader__).__name__, __loader__.name, __loader__.path)
        print(main.__dict__ is globals(), main is __import__("__main__"))
        """,
    "search_path": """
        import sys
        print(sys.path)
        """,
    "folder_and_files": """
        import os, sys
        print(os.getcwd(), __file__, os.path.exists(__file__), sorted(os.listdir(".")))
        """,
    "standard_input": """
        import sys
        print(repr(input("name? ")), repr(sys.stdin.read()), sys.stdin.isatty())
        """,
    "source_of_its_functions": """
        import inspect
        def hello():
            return "hello"
        print(inspect.getsource(hello), inspect.getsourcefile(hello))
        """,
    "no_future_statement_is_inherited": """
        def f(x: 1 + 1) -> "int": ...
        print(f.__annotations__, __annotations__)
        y: int = 3
        print(__annotations__)
        """,
    "dataclasses_and_type_hints": """
        from __future__ import annotations
        import typing
        from dataclasses import dataclass
        @dataclass
        class Node:
            value: int
            next: Node | None = None
        print(typing.get_type_hints(Node), Node(1, Node(2)), Node.__module__)
        """,
    "pickles_of_its_classes": """
        import pickle
        class Point:
            def __init__(self, x): self.x = x
        print(pickle.loads(pickle.dumps(Point(3))).x, pickle.dumps(Point))
        """,
    "warnings_in_main": """
        import warnings
        warnings.warn("shown, because it is in main", DeprecationWarning)
        print(warnings.filters)
        """,
    "logging_places": """
        import logging
        logging.basicConfig(format="%(pathname)s:%(lineno)d %(funcName)s %(message)s")
        logging.warning("here")
        """,
    "unittest_main": """
        import re, sys, unittest
        class Sums(unittest.TestCase):
            def test_right(self): self.assertEqual(1 + 1, 2)
            def test_wrong(self): self.assertEqual(1 + 1, 3)
        runner = unittest.TextTestRunner(stream=sys.stdout)
        result = unittest.main(argv=["x"], exit=False, testRunner=lambda **k: None) if False else None
        suite = unittest.defaultTestLoader.loadTestsFromModule(sys.modules["__main__"])
        print(suite.countTestCases())
        import io
        out = io.StringIO()
        try:
            unittest.main(argv=["x"], testRunner=unittest.TextTestRunner(stream=out))
        finally:
            print(re.sub(r"in [0-9.]+s", "", out.getvalue()))
        """,
    "doctest_of_main": """
        def double(x):
            '''
            >>> double(2)
            5
            '''
            return 2 * x
        import doctest
        print(doctest.testmod())
        """,
    "asyncio": """
        import asyncio
        async def main():
            await asyncio.sleep(0)
            print("ran")
            raise KeyError("in a coroutine")
        asyncio.run(main())
        """,
    "latin_1_source": "# -*- coding: latin-1 -*-\nprint(ascii('\xe9'), len('\xe9'))\n",
}

_STATUS = {
    "exit_with_nothing": "import sys; print('x'); sys.exit()",
    "exit_with_a_number": "import sys; sys.exit(3)",
    "exit_with_a_negative_number": "import sys; sys.exit(-1)",
    "exit_with_a_huge_number": "import sys; sys.exit(2**40 + 7)",
    "exit_with_a_bool": "import sys; sys.exit(True)",
    "exit_with_words": "import sys; print('before'); sys.exit('sorry: no data')",
    "exit_with_words_that_have_no_text": """
        class Silent:
            def __str__(self):
                raise ValueError("no text")
        print("before")
        raise SystemExit(Silent())
        """,
    "exit_with_words_without_stderr": "import sys; print('before'); sys.stderr = None; sys.exit('sorry: no data')",
    "exit_with_an_object": "import sys; sys.exit(['a', 1])",
    "exit_in_a_function_in_finally": """
        import sys
        def f():
            try:
                raise ValueError("lost")
            finally:
                sys.exit(5)
        f()
        """,
    "exit_at_once": "import os; print('never flushed', end=''); os._exit(4)",
    "exit_class_of_its_own": """
        class Stop(SystemExit): pass
        raise Stop(9)
        """,
}

_CRASHES = {
    "exception_in_a_function": """
        def inner(x):
            return x / 0
        def outer():
            return [inner(n) for n in range(3)]
        print("before")
        outer()
        """,
    "exception_from_another": """
        def f():
            try:
                {}["key"]
            except KeyError as error:
                raise RuntimeError("no such key") from error
        f()
        """,
    "exception_while_handling_another": """
        try:
            int("x")
        except ValueError:
            undefined
        """,
    "exception_from_none": """
        try:
            int("x")
        except ValueError:
            raise TypeError("only this") from None
        """,
    "exception_group": """
        def bad(n):
            raise ValueError(n)
        errors = []
        for n in range(2):
            try:
                bad(n)
            except ValueError as error:
                errors.append(error)
        raise ExceptionGroup("both", errors)
        """,
    "exception_with_a_note": """
        error = ValueError("x")
        error.add_note("seen in step 3")
        raise error
        """,
    "exception_that_is_not_an_exception": """
        class Halt(BaseException): pass
        raise Halt("now")
        """,
    "exception_that_cannot_be_printed": """
        class Odd(Exception):
            def __str__(self): raise ValueError("no text")
        raise Odd
        """,
    "missing_module": "import importlib; importlib.import_module('there_is_no_such_module')",
    "syntax_error_in_another_module": "import beside_with_a_mistake",
    "syntax_error_in_a_string": "exec('x = = 1')",
    "excepthook_of_its_own": """
        import sys
        def hook(kind, value, tb):
            print("hook", kind.__name__, value, tb.tb_frame.f_code.co_name, tb.tb_lineno, tb.tb_next)
            print(sys.last_value is value)
        sys.excepthook = hook
        raise ValueError("for the hook")
        """,
    "excepthook_that_fails": """
        import sys
        def hook(*_):
            raise KeyError("in the hook")
        sys.excepthook = hook
        raise ValueError("original")
        """,
    "excepthook_that_exits": """
        import sys
        def hook(*_):
            sys.exit(42)
        sys.excepthook = hook
        raise ValueError("original")
        """,
    "excepthook_taken_away": "import sys; del sys.excepthook; raise ValueError('original')",
    "keyboard_interrupt": "print('x'); raise KeyboardInterrupt",
    "keyboard_interrupt_by_signal": """
        import atexit, os, signal, time
        atexit.register(print, "atexit ran")
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(5)
        """,
    "interrupt_that_is_handled": """
        import os, signal
        signal.signal(signal.SIGINT, lambda *_: print("caught"))
        os.kill(os.getpid(), signal.SIGINT)
        print("goes on")
        """,
    "killed_by_sigterm": """
        import os, signal, time
        print("before", flush=True)
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(5)
        """,
}

_ENDINGS = {
    "atexit_handlers": """
        import atexit, sys
        atexit.register(print, "first registered")
        @atexit.register
        def last():
            print("last registered", __name__, sys.modules["__main__"].value)
        value = 7
        print("end of main")
        """,
    "thread_that_outlives_main": """
        import threading, time
        def work():
            time.sleep(0.2)
            print("thread ends", threading.main_thread().is_alive(), __name__)
        threading.Thread(target=work).start()
        print("end of main")
        """,
    "idle_pool_left_open": """
        from concurrent.futures import ThreadPoolExecutor
        pool = ThreadPoolExecutor(2)
        print(pool.submit(pow, 2, 5).result())
        """,
    "daemon_thread_left_running": """
        import threading, time
        threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
        print("end of main")
        """,
    "exception_in_a_thread": """
        import threading
        def work():
            raise ValueError("in a thread")
        thread = threading.Thread(target=work, name="worker")
        thread.start()
        thread.join()
        print("main goes on")
        """,
    "exit_in_a_thread": """
        import sys, threading
        thread = threading.Thread(target=sys.exit, args=(3,))
        thread.start()
        thread.join()
        print("main goes on")
        """,
    "forked_child_that_runs_to_the_end": """
        import os, sys
        sys.stdout.flush()
        child = os.fork()
        if child:
            print("parent", os.waitpid(child, 0)[1])
        else:
            print("child")
        """,
    "multiprocessing_spawn": """
        import multiprocessing, sys
        print("top level", __name__)
        def work(queue):
            queue.put((__name__, work.__module__, sys.argv))
        if __name__ == "__main__":
            context = multiprocessing.get_context("spawn")
            queue = context.Queue()
            process = context.Process(target=work, args=(queue,))
            process.start()
            print(queue.get())
            process.join()
            print(process.exitcode)
        """,
    "multiprocessing_pool_by_fork": """
        import multiprocessing
        def square(x): return x * x
        if __name__ == "__main__":
            with multiprocessing.get_context("fork").Pool(2) as pool:
                print(pool.map(square, range(5)))
        """,
    "streams_replaced_and_closed": """
        import io, sys
        sys.stdout = io.TextIOWrapper(sys.stdout.detach(), encoding="utf-8")
        print("through a new wrapper")
        sys.stderr = io.StringIO()
        sys.exit("nobody reads this")
        """,
    "finalizer_of_a_global": """
        class Noisy:
            def __del__(self): print("finalized")
        keep = Noisy()
        """,
}

PROGRAMS = {name: dedent(text) for group in (_SEEN, _STATUS, _CRASHES, _ENDINGS) for name, text in group.items()}
