// A way to the cluster that can be shut, and cut in the middle.

import { once } from "node:events";
import { connect, createServer } from "node:net";

import { ENDPOINT } from "./cluster.mjs";

export class Gate {
  #sockets = new Set();
  #server;
  #held = false;
  cuts = 0;

  /** A gate that is open, at a port of its own. */
  static async open(test) {
    const gate = new Gate();
    await gate.listen(0);
    test.after(() => gate.shut());
    return gate;
  }

  async listen(port = this.port) {
    const { hostname, port: there } = new URL(ENDPOINT);
    this.#server = createServer((near) => {
      const far = connect(Number(there), hostname);
      for (const socket of [near, far]) {
        this.#sockets.add(socket);
        socket.on("error", () => {});
        socket.on("close", () => (this.#sockets.delete(socket), near.destroy(), far.destroy()));
      }
      if (!this.#held) this.#pipe(near, far);
      near.other = far;
    });
    this.#server.listen(port, "127.0.0.1");
    await once(this.#server, "listening");
    this.port = this.#server.address().port;
    this.endpoint = `http://127.0.0.1:${this.port}`;
  }

  #pipe(near, far) {
    near.pipe(far);
    far.pipe(near);
  }

  /** Cuts every connection; new ones are taken. */
  cut() {
    this.cuts += 1;
    for (const socket of this.#sockets) socket.destroy();
  }

  /** From now on what the near side says goes nowhere, and nobody notices. */
  hold() {
    this.#held = true;
    for (const near of this.#sockets) {
      if (!near.other) continue;
      near.unpipe(near.other);
      near.other.unpipe(near);
      near.resume();
      near.other.resume();
    }
  }

  /** Cuts every connection, and takes no new ones. */
  async shut() {
    if (!this.#server?.listening) return;
    const closed = once(this.#server, "close");
    this.#server.close();
    this.cut();
    await closed;
  }
}
