// An intrusive doubly linked list. The elements own the links; the list owns nothing.
#pragma once

#include <cstddef>

#include <martlet/base/assert.hpp>

namespace martlet::inline v0 {

/// Base of what can stand in a list. `Tag` tells hooks of one object apart. Not copied with its object.
template <class Tag = void>
class list_hook {
public:
    list_hook() noexcept = default;
    list_hook(const list_hook&) = delete;
    list_hook& operator=(const list_hook&) = delete;
    /// An element leaves its list before it dies.
    ~list_hook() { MARTLET_ASSERT(next_ == nullptr, "an object must leave its list before it is destroyed"); }

    bool is_linked() const noexcept { return next_ != nullptr; }

    /// Leaves the list it is in; does nothing when it is in none. O(1).
    void unlink() noexcept {
        if (next_ == nullptr) return;
        next_->prev_ = prev_;
        prev_->next_ = next_;
        next_ = prev_ = nullptr;
    }

private:
    template <class, class>
    friend class list;
    list_hook* next_ = nullptr;
    list_hook* prev_ = nullptr;
};

/// First in, first out, removal from the middle in O(1). Not movable: the elements point at it.
template <class T, class Tag = void>
class list {
    using hook = list_hook<Tag>;

public:
    list() noexcept { end_.next_ = end_.prev_ = &end_; }
    list(const list&) = delete;
    list& operator=(const list&) = delete;
    ~list() {
        MARTLET_ASSERT(empty(), "a list must be empty when it is destroyed");
        end_.next_ = end_.prev_ = nullptr;
    }

    bool empty() const noexcept { return end_.next_ == &end_; }
    T& front() noexcept { return object(*end_.next_); }

    void push_back(T& element) noexcept { insert_before(end_, element); }
    void push_front(T& element) noexcept { insert_before(*end_.next_, element); }

    /// Removes and returns the first element, or null.
    T* pop_front() noexcept {
        if (empty()) return nullptr;
        T& first = front();
        static_cast<hook&>(first).unlink();
        return &first;
    }

    /// Moves all elements of `other` behind those of this list. O(1).
    void append(list& other) noexcept {
        if (other.empty()) return;
        other.end_.next_->prev_ = end_.prev_;
        end_.prev_->next_ = other.end_.next_;
        other.end_.prev_->next_ = &end_;
        end_.prev_ = other.end_.prev_;
        other.end_.next_ = other.end_.prev_ = &other.end_;
    }

    /// The element behind `element`, or null at the end.
    T* after(T& element) noexcept {
        hook* next = static_cast<hook&>(element).next_;
        return next == &end_ ? nullptr : &object(*next);
    }

private:
    static T& object(hook& h) noexcept { return static_cast<T&>(h); }

    static void insert_before(hook& place, T& element) noexcept {
        hook& added = static_cast<hook&>(element);
        MARTLET_ASSERT(added.next_ == nullptr, "an object can be in one list of a kind at a time");
        added.prev_ = place.prev_;
        added.next_ = &place;
        place.prev_->next_ = &added;
        place.prev_ = &added;
    }

    hook end_;
};

}  // namespace martlet::inline v0
