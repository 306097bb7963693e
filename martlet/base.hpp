// What everything stands on: errors and results, bytes and buffers, output queues, intrusive lists, timers, logs and metrics.
#pragma once

#include <martlet/base/assert.hpp>
#include <martlet/base/block_source.hpp>
#include <martlet/base/buffer.hpp>
#include <martlet/base/bytes.hpp>
#include <martlet/base/error.hpp>
#include <martlet/base/list.hpp>
#include <martlet/base/log.hpp>
#include <martlet/base/metric.hpp>
#include <martlet/base/outq.hpp>
#include <martlet/base/page_source.hpp>
#include <martlet/base/pool.hpp>
#include <martlet/base/result.hpp>
#include <martlet/base/scan.hpp>
#include <martlet/base/slice.hpp>
#include <martlet/base/time.hpp>
#include <martlet/base/timer_wheel.hpp>
