// Two ends of one line in this process, as the host and a plugin's process have them.
import { AsyncLocalStorage } from "node:async_hooks";
import { duplexPair } from "node:stream";
import { describe, expect, it } from "vitest";
import { createPeer, type Peer, type Verbs } from "./peer.ts";

function connect(ofPlugin: Verbs, ofHost: Verbs = {}) {
  const [here, there] = duplexPair();
  const host: Peer = createPeer({
    ...{ stream: here, role: "host", verbs: ofHost },
    onEnd: () => host.close(new Error("its process is gone")),
  });
  createPeer({ stream: there, role: "plugin", verbs: ofPlugin, onEnd: () => {} });
  return { host, there };
}

interface Lent {
  lend: (name: string) => unknown;
  nested: { ask: (given: object) => unknown };
}

const frozen = (count: number, from = 0) =>
  Array.from({ length: count }, (_, at) =>
    Object.freeze({ role: "user", content: `message ${from + at}` }),
  );

/** What crosses the line in one call, bytes. */
async function bytesOf(host: Peer, stream: { on: (...given: never[]) => unknown }, given: object) {
  let bytes = 0;
  const count = (piece: Buffer) => {
    bytes += piece.length;
  };
  (stream.on as (event: string, listener: typeof count) => void)("data", count);
  const result = await host.call("assemble", given);
  return { bytes, result };
}

describe("a call of the other process", () => {
  it("comes with plain values, sets and dates, and brings back what was answered", async () => {
    const { host } = connect({
      echo: (given: { tools: Set<string>; at: Date }) => ({ ...given, has: given.tools.has("a") }),
    });
    const given = { tools: new Set(["a"]), at: new Date(5), nothing: undefined, list: [1, [2]] };
    expect(await host.call("echo", given)).toEqual({ ...given, has: true });
  });

  it("brings back no more than a view may have, and the next one is answered", async () => {
    const { host } = connect({
      repeat: (text: string, times: number) => text.repeat(times),
    });
    await expect(host.call("repeat", "x", 2 ** 27)).rejects.toThrow(
      /^1342\d+ bytes are too many to be sent, 134217728 are allowed$/,
    );
    expect(await host.call("repeat", "x", 3)).toBe("xxx");
  });

  it("fails with what was thrown there, its code, issues, cause and stack", async () => {
    const { host } = connect({
      fail() {
        const error = Object.assign(new TypeError("wrong", { cause: new Error("deeper") }), {
          code: "SQLITE_BUSY",
          issues: [{ code: "unrecognized_keys", keys: ["x"] }],
          odd: () => 1,
        });
        throw error;
      },
      text: () => Promise.reject("just a text"),
      trap: () => {
        throw new Proxy(new Error("x"), {
          get: () => {
            throw 1;
          },
        });
      },
    });
    const error = (await host.call("fail").catch((thrown: unknown) => thrown)) as Error;
    expect(error).toBeInstanceOf(TypeError);
    expect(error).toMatchObject({
      ...{ name: "TypeError", message: "wrong", code: "SQLITE_BUSY" },
      issues: [{ code: "unrecognized_keys", keys: ["x"] }],
      cause: { message: "deeper" },
    });
    expect(error.stack).toContain("peer.test.ts");
    await expect(host.call("text")).rejects.toBe("just a text");
    await expect(host.call("trap")).rejects.toBe("an error that cannot be described");
    await expect(host.call("absent")).rejects.toThrow('"absent" cannot be asked for here');
  });

  it("may hold functions, which run where the call was made, and their own come back as themselves", async () => {
    const where = new AsyncLocalStorage<string>();
    const lent = (name: string) => `${name} in ${where.getStore()}`;
    const { host } = connect({
      async use({ lend, nested }: Lent) {
        return [await lend("one"), await nested.ask({ lend }), { lend }];
      },
    });
    const ask = (given: { lend: unknown }) => given.lend === lent;
    const answer = await where.run("a turn", () =>
      host.call("use", { lend: lent, nested: { ask } }),
    );
    expect(answer).toEqual(["one in a turn", true, { lend: lent }]);
  });

  it("may answer with functions", async () => {
    let undone = 0;
    const { host } = connect({ prepare: () => ({ rollback: () => ++undone }) });
    const { rollback } = (await host.call("prepare")) as { rollback: () => Promise<number> };
    expect([await rollback(), await rollback()]).toEqual([1, 2]);
  });

  it("is told to stop, with the very reason, also when two calls share a signal", async () => {
    const started: string[] = [];
    const { host } = connect({
      wait: ({ abortSignal, name }: { abortSignal: AbortSignal; name: string }) =>
        new Promise((resolve, reject) => {
          started.push(name);
          if (name === "short") return resolve("done");
          abortSignal.addEventListener("abort", () => reject(abortSignal.reason));
        }),
    });
    const controller = new AbortController();
    const { signal: abortSignal } = controller;
    const waits = ["long", "short", "other"].map((name) =>
      host.call("wait", { abortSignal, name }),
    );
    expect(await waits[1]).toBe("done");
    const reason = new DOMException("enough", "AbortError");
    controller.abort(reason);
    await expect(waits[0]).rejects.toBe(reason);
    await expect(waits[2]).rejects.toBe(reason);
    await expect(host.call("wait", { abortSignal, name: "short" })).resolves.toBe("done");
  });

  it("fails when the other side goes, and so do those that wait", async () => {
    const { host, there } = connect({ wait: () => new Promise(() => {}) });
    const waiting = host.call("wait");
    there.destroy();
    await expect(waiting).rejects.toThrow("its process is gone");
    await expect(host.call("wait")).rejects.toThrow("its process is gone");
    expect(host.isOpen()).toBe(false);
  });

  it("fails alone when it cannot be sent", async () => {
    const { host } = connect({
      odd: () => ({ a: { b: { c: { d: { e: { f: { g: () => 1 } } } } } } }),
    });
    await expect(host.call("odd")).rejects.toThrow("could not be cloned");
    await expect(host.call("odd")).rejects.toThrow("could not be cloned");
  });
});

describe("messages", () => {
  const pass: Verbs = { assemble: ({ messages }: { messages: unknown[] }) => ({ messages }) };

  it("that do not change cross once, and come back as the very objects", async () => {
    const { host, there } = connect(pass);
    const first = frozen(1000);
    const before = await bytesOf(host, there, { messages: first });
    const messages = [...first.slice(2), ...frozen(2, 1000)];
    const after = await bytesOf(host, there, { messages });
    expect(before.bytes).toBeGreaterThan(20_000);
    expect(after.bytes).toBeLessThan(1000);
    const { messages: taken } = after.result as { messages: unknown[] };
    expect(taken).toHaveLength(1000);
    expect(taken.every((message, at) => message === messages[at])).toBe(true);
  });

  it("are the same objects there each time, and cannot be changed", async () => {
    const seen: unknown[] = [];
    const { host } = connect({
      assemble({ messages }: { messages: { content: string }[] }) {
        seen.push(messages[0]);
        messages[0]!.content = "changed";
      },
    });
    const messages = frozen(1);
    for (let call = 0; call < 2; call++)
      await expect(host.call("assemble", { messages })).rejects.toThrow(
        "Cannot assign to read only",
      );
    expect(seen[0]).toBe(seen[1]);
  });

  it("that may change cross each time, and may be changed there", async () => {
    const { host } = connect({
      assemble({ messages }: { messages: { content: string }[] }) {
        messages[0]!.content += "!";
        return { messages };
      },
    });
    const messages = [{ content: "hello" }];
    for (let call = 0; call < 2; call++)
      expect(await host.call("assemble", { messages })).toEqual({
        messages: [{ content: "hello!" }],
      });
    expect(messages[0]!.content).toBe("hello");
  });

  it("may be left out, put in another order, made anew or kept for a later call", async () => {
    let kept: unknown;
    const { host } = connect({
      assemble({ messages }: { messages: object[] }) {
        const own = { role: "user", content: "own" };
        const before = kept;
        kept = messages[1];
        return { messages: [messages[2], own, { ...messages[0] }, messages[1], before] };
      },
    });
    const messages = frozen(3);
    await host.call("assemble", { messages });
    const answer = (await host.call("assemble", { messages: frozen(3, 3) })) as {
      messages: unknown[];
    };
    expect(answer.messages).toEqual([
      { role: "user", content: "message 5" },
      { role: "user", content: "own" },
      { role: "user", content: "message 3" },
      { role: "user", content: "message 4" },
      { role: "user", content: "message 1" },
    ]);
  });
});
