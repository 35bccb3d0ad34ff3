//! Tables of small traces, input and output side by side.
