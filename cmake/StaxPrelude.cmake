# Embeds src/codegen/cpp/prelude/*.inc into the library as raw strings. Included, it adds the rule; run as a script
# (cmake -P with OUTPUT and SNIPPETS), it writes the source.
if(CMAKE_SCRIPT_MODE_FILE)
  set(rows "")
  set(all "")
  string(REPLACE "|" ";" SNIPPETS "${SNIPPETS}")
  foreach(path IN LISTS SNIPPETS)
    get_filename_component(name "${path}" NAME_WE)
    file(READ "${path}" text)
    string(APPEND all "${name}\n${text}")
    string(APPEND rows "    {\"${name}\", R\"stax(${text})stax\"},\n")
  endforeach()
  string(SHA256 hash "${all}")
  file(WRITE "${OUTPUT}" "#include \"codegen/cpp/prelude.h\"\n\nnamespace stax::codegen {\nnamespace {\n"
    "constexpr PreludeSnippet kSnippets[] = {\n${rows}};\n}  // namespace\n"
    "std::span<const PreludeSnippet> prelude_snippets() { return kSnippets; }\n"
    "std::string_view prelude_hash() { return \"${hash}\"; }\n}  // namespace stax::codegen\n")
else()
  file(GLOB snippets CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/codegen/cpp/prelude/*.inc)
  list(JOIN snippets "|" joined)
  set(prelude_data ${CMAKE_BINARY_DIR}/generated/prelude_data.cpp)
  add_custom_command(OUTPUT ${prelude_data}
    COMMAND ${CMAKE_COMMAND} -DOUTPUT=${prelude_data} "-DSNIPPETS=${joined}" -P ${CMAKE_CURRENT_LIST_FILE}
    DEPENDS ${snippets} ${CMAKE_CURRENT_LIST_FILE} VERBATIM)
  target_sources(room_codegen PRIVATE ${prelude_data})
endif()
