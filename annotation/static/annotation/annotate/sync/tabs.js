// Two tabs of one person: one works, the other says so and can take over. The newest claim wins.

export class Tabs {
  /** on: {lost(), free()}: another tab took over; the working tab was closed. */
  constructor(name, on) {
    this.on = on;
    this.id = `${Date.now()}-${Math.random()}`;
    this.isWorking = false;
    this.channel = new BroadcastChannel(`tandem/annotate/${name}`);
    this.channel.onmessage = ({ data }) => this.#hear(data);
    addEventListener("pagehide", () => this.isWorking && this.#say("bye"));
    addEventListener("pageshow", ({ persisted }) => persisted && this.isWorking && this.claim());
  }

  /** Whether another tab is at work; asks and waits a moment for an answer. */
  isAnotherWorking(patience = 150) {
    return new Promise((resolve) => {
      this.answered = () => resolve(true);
      setTimeout(() => resolve(false), patience);
      this.#say("hello");
    });
  }

  /** Work here; every other tab stops. */
  claim() {
    this.isWorking = true;
    this.claimed = `${Date.now()}-${this.id}`; // two claims at once are told apart too
    this.#say("claim");
  }

  #hear({ from, word, claimed }) {
    if (from === this.id) return;
    if (word === "hello" && this.isWorking) this.#say("here");
    if (word === "here") this.answered?.();
    if (word === "bye" && !this.isWorking) this.on.free();
    if (word === "claim" && this.isWorking && claimed > this.claimed) {
      this.isWorking = false;
      this.on.lost();
    }
  }

  #say(word) {
    this.channel.postMessage({ from: this.id, word, claimed: this.claimed });
  }
}
