// Trying again until the server is reached: at once when the line is back, else ever more slowly.
import { Refused, Unreachable } from "../sync/api.js";

const FIRST = 1_000;
const LAST = 20_000;

/** The answer of a request, however long the server cannot be reached. */
export async function retrying(desk, request) {
  for (let wait = FIRST; ; wait = Math.min(LAST, wait * 2)) {
    try {
      const answer = await request();
      desk.connection.reached();
      return answer;
    } catch (error) {
      if (error instanceof Refused) desk.connection.reached();
      if (!(error instanceof Unreachable)) throw error;
      desk.connection.failed(error);
      await lineBack(desk.connection, wait);
    }
  }
}

function lineBack(connection, milliseconds) {
  return new Promise((resolve) => {
    const go = () => {
      clearTimeout(timer);
      connection.removeEventListener("retry", go);
      resolve();
    };
    const timer = setTimeout(go, milliseconds);
    connection.addEventListener("retry", go);
  });
}
