// The runtime: the loop, coroutine tasks with deadlines and cancellation, and what they can wait for.
#pragma once

#include <martlet/rt/blocking_pool.hpp>
#include <martlet/rt/channel.hpp>
#include <martlet/rt/combine.hpp>
#include <martlet/rt/context.hpp>
#include <martlet/rt/descriptor.hpp>
#include <martlet/rt/event.hpp>
#include <martlet/rt/files.hpp>
#include <martlet/rt/loop.hpp>
#include <martlet/rt/loop_handle.hpp>
#include <martlet/rt/operation.hpp>
#include <martlet/rt/pipes.hpp>
#include <martlet/rt/pollable.hpp>
#include <martlet/rt/polled_operation.hpp>
#include <martlet/rt/process.hpp>
#include <martlet/rt/processors.hpp>
#include <martlet/rt/ready.hpp>
#include <martlet/rt/scope.hpp>
#include <martlet/rt/semaphore.hpp>
#include <martlet/rt/signals.hpp>
#include <martlet/rt/sleep.hpp>
#include <martlet/rt/stall_watch.hpp>
#include <martlet/rt/task.hpp>
#include <martlet/rt/wall_clock.hpp>
#include <martlet/rt/within.hpp>
