#include "launcher/report/hosts/stack_text.h"

#include <sys/syscall.h>

#include "tests/support/catch.h"

using namespace sml;
using namespace sml::report;
using Frames = std::vector<std::string>;

TEST_CASE("stack text: py-spy's main thread, wherever it stands") {
  constexpr std::string_view text =
      "Process 40: python3 train.py\nPython v3.11.2 (/usr/bin/python3.11)\n\n"
      "Thread 41 (idle): \"ThreadPoolExecutor-0_0\"\n    wait (threading.py:320)\n\n"
      "Thread 40 (idle): \"MainThread\"\n    load (train.py:4)\n    <module> (train.py:10)\n\n"
      "Thread 42 (active): \"Thread-1\"\n    run (a.py:1)\n";
  CHECK(main_frames("py-spy", text) == Frames{"load (train.py:4)", "<module> (train.py:10)"});
  CHECK(main_frames("py-spy", "Thread 1 (idle)\n    only (a.py:2)\n") == Frames{"only (a.py:2)"});
  CHECK(main_frames("py-spy", "Permission denied\n").empty());
  CHECK(main_frames("py-spy", "").empty());
}

TEST_CASE("stack text: the main thread as Python itself prints it, the last one") {
  constexpr std::string_view text =
      "Current thread 0x00007f4c26ffd6c0 (most recent call first):\n  <no Python frame>\n\n"
      "Thread 0x00007f4c26ffd6c0 (most recent call first):\n  File \"/usr/lib/threading.py\", line 320 in wait\n\n"
      "Thread 0x00007f4c4fa09040 (most recent call first):\n  File \"/srv/in a/train.py\", line 7 in hold_up\n"
      "  File \"/srv/in a/train.py\", line 10 in <module>\n  ...\n";
  CHECK(main_frames("torch", text) == Frames{"hold_up (train.py:7)", "<module> (train.py:10)"});
  CHECK(main_frames("torch", "Current thread 0x1 (most recent call first):\n  File \"a.py\", line 1 in f\n") ==
        Frames{"f (a.py:1)"});
  CHECK(main_frames("torch", "  File \"a.py\", line 1\n").empty());
  CHECK(main_frames("torch", "").empty());
}

TEST_CASE("stack text: functions of native stacks") {
  constexpr std::string_view gdb =
      "[Thread debugging using libthread_db enabled]\n0x00007f in __libc_recv () from /lib/libc.so.6\n\n"
      "Thread 2 (Thread 0x7f (LWP 12) \"pool\"):\n#0  0x0000 in futex_wait (a=1) at x.c:1\n\n"
      "Thread 1 (Thread 0x7f (LWP 11) \"python3\"):\n#0  0x00007f in __libc_recv (fd=3, buf=0x1) at recv.c:28\n"
      "#1  sock_recv_impl (s=0x1) at ./Modules/socketmodule.c:4\n#2  0x1 in ?? ()\n";
  CHECK(main_frames("gdb", gdb) == Frames{"__libc_recv", "sock_recv_impl", "??"});
  constexpr std::string_view elfutils =
      "PID 11 - process\nTID 11:\n#0  0x00007f1 clock_nanosleep\n#1  0x00007f2 main\nTID 12:\n#0  0x1 other\n";
  CHECK(main_frames("eu-stack", elfutils) == Frames{"clock_nanosleep", "main"});
}

TEST_CASE("stack text: the kernel's word, with and without the peer") {
  ThreadTrace thread{.tid = 1, .state = 'S', .wait_channel = "wait_woken"};
  thread.system_call = std::to_string(SYS_recvfrom) + " 0x3 0x7f";
  thread.held = "socket to 10.0.0.1:29500";
  CHECK(kernel_place(thread) == "recvfrom (socket to 10.0.0.1:29500)");
  CHECK(kernel_place_of_any(thread) == "recvfrom (socket)");
  thread.system_call = std::to_string(SYS_futex) + " 0x3";
  CHECK(kernel_place(thread) == "futex");
  thread.system_call.clear();
  CHECK(kernel_place(thread) == "wait_woken");
  thread.wait_channel.clear();
  CHECK(kernel_place(thread) == "an unknown place");
  thread.system_call = "99999 0x1";
  CHECK(kernel_place(thread) == "system call 99999");
  thread.state = 'R';
  CHECK(kernel_place(thread) == "its own code");
  CHECK(state_word('S') == "sleeping");
}
