# Examples over the public API. minilm's text half (tokenizer, sentence files, batching) is a library of its own, so that
# its tests need no model and no compiler.
function(stax_add_examples)
  set(folder ${CMAKE_SOURCE_DIR}/examples/minilm)
  find_package(ICU REQUIRED COMPONENTS uc)
  add_library(minilm_text STATIC ${folder}/basic_tokenizer.cpp ${folder}/characters.cpp ${folder}/text_file.cpp
                                 ${folder}/tokenizer.cpp ${folder}/utf8.cpp ${folder}/vocabulary.cpp)
  target_include_directories(minilm_text PUBLIC ${folder})
  target_link_libraries(minilm_text PUBLIC stax_options ICU::uc PRIVATE stax_runtime)
  if(TARGET test_minilm)
    target_link_libraries(test_minilm PRIVATE minilm_text)
    target_compile_definitions(test_minilm PRIVATE STAX_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
  endif()
endfunction()
