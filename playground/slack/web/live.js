// What the person sees, kept in step with the server over one socket.

const FIRST_RETRY_MS = 500;
const LONGEST_RETRY_MS = 10_000;

export class Live {
  constructor(query, onChange, onConnection) {
    this.entries = new Map();
    this.query = query;
    this.onChange = onChange;
    this.onConnection = onConnection;
    this.retry = FIRST_RETRY_MS;
    this.isClosed = false;
    this.connect();
  }

  connect() {
    const address = new URL(`/page/live?${new URLSearchParams(this.query)}`, location.href);
    address.protocol = location.protocol === "https:" ? "wss:" : "ws:";
    this.socket = new WebSocket(address);
    let isFirst = true;
    this.socket.addEventListener("message", (event) => {
      this.retry = FIRST_RETRY_MS;
      const difference = JSON.parse(event.data);
      // After a break everything comes anew.
      if (isFirst) this.entries.clear();
      this.onConnection(true);
      for (const [key, value] of Object.entries(difference.set)) this.entries.set(key, value);
      for (const key of difference.gone) this.entries.delete(key);
      this.onChange(difference, isFirst);
      isFirst = false;
    });
    this.socket.addEventListener("close", () => {
      if (this.isClosed) return;
      this.onConnection(false);
      setTimeout(() => { if (!this.isClosed) this.connect(); }, this.retry);
      this.retry = Math.min(this.retry * 2, LONGEST_RETRY_MS);
    });
  }

  close() {
    this.isClosed = true;
    this.socket.close();
  }

  // Values of all keys that begin so, as [rest of the key, value].
  list(prefix) {
    const found = [];
    for (const [key, value] of this.entries) {
      if (key.startsWith(prefix)) found.push([key.slice(prefix.length), value]);
    }
    return found;
  }

  get(key) {
    return this.entries.get(key);
  }
}
