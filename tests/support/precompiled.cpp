// CMake precompiles headers only for a library with a source that includes them.
