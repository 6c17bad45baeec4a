// Greets the new member by the name given in the form.
"use strict";

{
  const given = new URLSearchParams(location.search);
  const branches = { lane: "Lantern Lane", quay: "Old Quay", hill: "Windmill Hill" };
  const name = given.get("name");
  if (name) document.getElementById("hello").textContent = `Welcome, ${name}`;
  document.getElementById("branch").textContent = branches[given.get("branch")] ?? branches.lane;
}
