// Stars: a rating of the whole sentence from one to five. A kind of its own, to show that one file
// is enough.
import { register } from "./index.js";
import { perSentence } from "./shapes.js";

const starsOf = (label) => "★".repeat(Number(label));

register({
  ...perSentence,
  name: "stars",
  noun: "rating",
  keys: (label) => [...(label ? [label] : []), ..."12345"],
  draw: ({ value }) => ({ label: starsOf(value) }),
  describe: ({ value }) => ({ from: starsOf(value), to: "", label: "" }),
  optionText: starsOf,
  unitText: ([label]) => starsOf(label),
});
