// The catalogue, and the list of reserved books, which lives in this browser session only.
"use strict";

const BOOKS = [
  { id: "salt-roads", title: "Salt Roads", author: "Ines Okafor", year: 2024, pages: 312, shelf: "Travel",
    about: "On foot along the old trade routes, from the pans of the coast to the last inland market." },
  { id: "the-slow-tide", title: "The Slow Tide", author: "Marit Lund", year: 2023, pages: 248, shelf: "Fiction",
    about: "A harbour pilot who has never left the estuary takes in a stranger from upstream." },
  { id: "bees-of-the-north", title: "Bees of the North", author: "Tomasz Wren", year: 2022, pages: 190, shelf: "Nature",
    about: "Forty species above the sixtieth parallel, each drawn from life." },
  { id: "tide-tables", title: "Tide Tables for Dreamers", author: "Josef Amari", year: 2019, pages: 96, shelf: "Poetry",
    about: "Poems in two columns: high water and low." },
  { id: "a-cat-in-the-stacks", title: "A Cat in the Stacks", author: "Ruth Delacroix", year: 2021, pages: 64, shelf: "Children",
    about: "The true story of Biscuit, who guards shelf nine." },
];

/** The reserved books' ids. */
function reserved() {
  return JSON.parse(sessionStorage.getItem("reserved") ?? "[]");
}

/** Replaces the reserved books' ids. */
function reserve(ids) {
  sessionStorage.setItem("reserved", JSON.stringify(ids));
}

/** `1 book`, `2 books`. */
function counted(n) {
  return `${n} ${n === 1 ? "book" : "books"}`;
}
