// Watches the annotate page from outside: key presses, next sentences, what moves, what was fetched.
window.watch = {
  effects: [],
  paints: [],
  nexts: [],
  leases: [],
  atOnce: 0, // next sentences that were in the page before the key press had ended
  shift: 0,
  sources: [],
  clear() {
    Object.assign(this, { effects: [], paints: [], nexts: [], leases: [], atOnce: 0, shift: 0 });
  },
  weight() {
    const entries = [
      ...performance.getEntriesByType("navigation"),
      ...performance.getEntriesByType("resource"),
    ];
    return entries.reduce((sum, entry) => sum + entry.transferSize, 0);
  },
  requests: () => performance.getEntriesByType("resource").length + 1,
};

new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) {
    if (entry.hadRecentInput) continue;
    watch.shift += entry.value;
    watch.sources.push(
      ...entry.sources.map(({ node }) => node?.id || node?.className || node?.nodeName),
    );
  }
}).observe({ type: "layout-shift", buffered: true });

let wordBefore = null;
addEventListener("keydown", () => (wordBefore = document.querySelector(".word")), true);
addEventListener("keydown", (event) => {
  // after every handler of the page: the DOM has changed, the next frame would show it
  document.body.getBoundingClientRect();
  watch.effects.push(performance.now() - event.timeStamp);
  afterPaint(() => watch.paints.push(performance.now() - event.timeStamp));
  if (event.key === "Enter" && !event.shiftKey) followNext(wordBefore, event.timeStamp);
});

function followNext(word, since) {
  if (!word.isConnected) watch.atOnce += 1;
  const submit = document.getElementById("submit");
  const look = () => {
    if (word.isConnected) return requestAnimationFrame(look);
    afterPaint(() => watch.nexts.push(performance.now() - since));
    const wait = () =>
      submit.disabled ? requestAnimationFrame(wait) : watch.leases.push(performance.now() - since);
    wait();
  };
  look();
}

function afterPaint(action) {
  requestAnimationFrame(() => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = action;
    port2.postMessage(null);
  });
}
