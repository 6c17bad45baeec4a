//! Lanes, order and cancelling, with tools that wait for the test.
