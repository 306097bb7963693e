#include <martlet/rt/sim/simulation.hpp>

#include <algorithm>

#include <martlet/rt/sim/objects.hpp>
#include <martlet/rt/sim/world.hpp>

namespace martlet::inline v0::sim {

options options::rough(std::uint64_t seed) noexcept {
    options chosen(seed);
    chosen.split_chance = 0.3;
    chosen.short_write_chance = 0.1;
    chosen.interrupt_chance = 0.05;
    chosen.loss_chance = 0.05;
    chosen.latency_max = std::chrono::milliseconds(2);
    return chosen;
}

simulation::simulation(const options& with) {
    const allocation_pause pause;
    world_ = std::make_unique<world>(with);
    world_->face = this;
}

simulation::~simulation() {
    const allocation_pause pause;
    world_->observer = nullptr;
    if (world_->open_count > 0) {
        const std::size_t first = static_cast<std::size_t>(
            std::find_if(world_->table.begin(), world_->table.end(), [](const auto& open) { return open != nullptr; }) -
            world_->table.begin());
        world_->broken("every descriptor is closed before the simulation ends: " + std::to_string(world_->open_count) +
                       " left open, the first is " + std::to_string(first));
    }
    world_.reset();
}

time_point simulation::now() const noexcept { return time_point(std::chrono::nanoseconds(world_->now_ns)); }

void simulation::advance(duration length) {
    const allocation_pause pause;
    const std::int64_t until = world_->now_ns + length.count();
    world_->run_due();
    for (std::int64_t next; (next = world_->next_time()) >= 0 && next <= until;) {
        world_->move_to(next);
        world_->run_due();
    }
    world_->move_to(until);
}

void simulation::after(duration delay, std::move_only_function<void()> action) {
    const allocation_pause pause;
    // What a test does there belongs to the code under test again.
    world_->after(delay.count(), [action = std::move(action)]() mutable {
        const allocation_resume under_test;
        action();
    });
}

void simulation::fail_call(std::uint64_t n, int code, std::size_t variant) noexcept {
    world_->fail_at = world_->fallible_count + n;
    world_->fail_code = code;
    world_->fail_variant = variant;
    world_->fitting = 0;
}

void simulation::interrupt() noexcept { world_->interrupted = true; }

std::size_t simulation::fitting_errors() const noexcept { return world_->fitting; }
std::uint64_t simulation::fallible_calls() const noexcept { return world_->fallible_count; }
std::uint64_t simulation::calls() const noexcept { return world_->call_count; }

void simulation::on_call(std::move_only_function<void(const call_facts&)> observer) { world_->observer = std::move(observer); }

void simulation::set_note(std::string note) { world_->note = std::move(note); }

void simulation::raise(int number) {
    const allocation_pause pause;
    raise_signal(*world_, number);
}

void simulation::add_file(std::string_view path, std::string_view content) {
    const allocation_pause pause;
    auto node = std::make_shared<file_node>();
    node->content = content;
    node->modified_ns = world_->now_ns + world_->realtime_offset_ns;
    node->inode = world_->next_inode++;
    world_->files.insert_or_assign(std::string(path), std::move(node));
}

void simulation::add_directory(std::string_view path) {
    add_file(path, "");
    world_->files.find(path)->second->is_directory = true;
}

bool simulation::has_file(std::string_view path) const { return world_->files.contains(path); }

std::string simulation::file_content(std::string_view path) const {
    const auto at = world_->files.find(path);
    return at == world_->files.end() ? std::string() : at->second->content;
}

void simulation::add_process(std::string_view path, const process_script& script) {
    const allocation_pause pause;
    world_->programs.insert_or_assign(std::string(path), script);
}

std::size_t simulation::open_descriptors() const noexcept { return world_->open_count; }
std::size_t simulation::mapped_bytes() const noexcept { return world_->page_bytes; }
std::uint64_t simulation::trace() const noexcept { return world_->hash; }

std::string simulation::trace_text() const {
    const allocation_pause pause;
    std::string lines;
    for (std::size_t i = 0; i < world_->calls.size(); ++i)
        lines += world_->text(world_->calls[(world_->ring_at + i) % world_->calls.size()]);
    return lines;
}

std::uint64_t simulation::draw(std::uint64_t bound) noexcept { return world_->drawn_by_tests.below(bound); }

simulation* simulation::current() noexcept {
    world* in = here_or_null();
    return in == nullptr ? nullptr : in->face;
}

}  // namespace martlet::inline v0::sim
