#include "sample_sentences.h"

namespace minilm {

std::vector<std::string> sample_sentences() {
  return {
      "The kettle is boiling.",
      "Water for the tea is hot now.",
      "How do I reset my password?",
      "I forgot my login and need a new one.",
      "The bridge is closed until Monday because of the storm.",
      "Strong winds keep traffic off the bridge for the weekend.",
      "She finished the marathon in under four hours.",
      "Our train was late, so we missed the first act.",
      "Nous avons manqué le début de la pièce à cause du train.",
      "A tensor compiler turns a function into fused kernels.",
      "Fusing loops saves trips to memory.",
      "The recipe needs two eggs, flour and a little salt.",
      "Whisk flour and eggs, then season.",
      "Interest rates rose by a quarter of a point.",
      "The central bank made borrowing more expensive.",
      "Penguins cannot fly, but they are excellent swimmers.",
      "東京は今日も雨です。",
      "It is raining in Tokyo again today.",
      "The museum's new wing displays medieval armour and tapestries, and admission is free on the first Sunday.",
      "On some Sundays you can see the knights' armour without buying a ticket.",
      "My phone's battery drains overnight.",
      "The mobile loses its charge while I sleep.",
      "Three wolves were seen near the village.",
      "Ok.",
  };
}

}  // namespace minilm
