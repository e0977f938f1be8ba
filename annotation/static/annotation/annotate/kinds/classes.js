// Classes: one label for the whole sentence. An answer is a label.
import { register } from "./index.js";
import { perSentence } from "./shapes.js";
import { t } from "../words.js";

const DIGITS = [..."123456789"]; // 0 opens the list

register({
  ...perSentence,
  name: "classes",
  noun: t("class"),
  keys: () => DIGITS,
});
