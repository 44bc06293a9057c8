# Examples over the public API. minilm's text half (tokenizer, sentence files, batches, options) is a library of its own, so
# that its tests need no model and no compiler; minilm_model is the encoder, which benchmarks use too.
function(stax_add_examples)
  set(folder ${CMAKE_SOURCE_DIR}/examples/minilm)
  set(model ${folder}/weights.cpp ${folder}/encoder.cpp ${folder}/embedder.cpp)
  set(program ${folder}/bench.cpp ${folder}/main.cpp)
  file(GLOB text CONFIGURE_DEPENDS ${folder}/*.cpp)
  list(REMOVE_ITEM text ${model} ${program})

  find_package(ICU REQUIRED COMPONENTS uc)
  add_library(minilm_text STATIC ${text})
  target_include_directories(minilm_text PUBLIC ${folder})
  target_link_libraries(minilm_text PUBLIC stax_options ICU::uc PRIVATE stax_runtime)
  if(TARGET test_minilm)
    target_link_libraries(test_minilm PRIVATE minilm_text)
  endif()

  if(TARGET room_frontend AND EXISTS ${CMAKE_SOURCE_DIR}/include/stax/stax.h)
    add_library(minilm_model STATIC ${model})
    target_link_libraries(minilm_model PUBLIC minilm_text stax)
    add_executable(minilm ${program})
    target_link_libraries(minilm PRIVATE minilm_model)
  endif()
endfunction()
