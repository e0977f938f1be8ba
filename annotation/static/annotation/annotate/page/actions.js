// What every key and button of the page does: editing, and what becomes of the sentence.
import { undo } from "../desk/recovering.js";
import { submit } from "../desk/submitting.js";
import { editingActions } from "./editing.js";

/** All actions of the page. talk: {skip(), flag()}; showKeys() and guidelines() open panels. */
export function pageActions({ desk, view, talk, showKeys, guidelines }) {
  return {
    ...editingActions({ hands: desk, view, submit: () => submit(desk) }),
    undo: () => void undo(desk),
    skip: talk.skip,
    flag: talk.flag,
    help: showKeys,
    guidelines,
  };
}
