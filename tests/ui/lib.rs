//! The package that the cases in `fail/` are compiled in. It is there for its
//! dependencies, which are fewer than the other tests'.
