// A map that forgets its least recently used entries. Not thread-safe.
#pragma once
#include <list>
#include <unordered_map>
#include <utility>

namespace stax::runtime {

template <class Key, class Value, class Hash = std::hash<Key>>
class LruMap {
 public:
  // Null when absent; else the entry becomes the most recently used.
  Value* find(const Key& key) {
    auto it = index_.find(key);
    if (it == index_.end()) return nullptr;
    order_.splice(order_.begin(), order_, it->second);
    return &it->second->second;
  }
  // Replaces an entry of the same key.
  Value& insert(const Key& key, Value value) {
    erase(key);
    order_.emplace_front(key, std::move(value));
    index_[key] = order_.begin();
    return order_.front().second;
  }
  void erase(const Key& key) {
    auto it = index_.find(key);
    if (it == index_.end()) return;
    order_.erase(it->second);
    index_.erase(it);
  }
  template <class Predicate>
  void erase_if(Predicate drop) {
    for (auto it = order_.begin(); it != order_.end();) {
      if (drop(it->first, it->second)) {
        index_.erase(it->first);
        it = order_.erase(it);
      } else {
        ++it;
      }
    }
  }
  const std::pair<Key, Value>& oldest() const { return order_.back(); }
  std::size_t size() const { return order_.size(); }
  bool empty() const { return order_.empty(); }

 private:
  std::list<std::pair<Key, Value>> order_;
  std::unordered_map<Key, typename std::list<std::pair<Key, Value>>::iterator, Hash> index_;
};

}  // namespace stax::runtime
