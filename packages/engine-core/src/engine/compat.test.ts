import type { AgentMessage, ContextEngine } from "@clew/plugin-sdk/core";
import type { EngineMethod } from "@clew/plugin-sdk/host";
import { user } from "@clew/plugin-sdk/testing";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { passThrough } from "../__fixtures__/host.ts";
import { callCompatibly, type Learned, nothingLearned } from "./compat.ts";

const params = {
  sessionId: "s",
  messages: [],
  sessionKey: "k",
  prompt: "p",
  runtimeSettings: {},
};

const call = (
  engine: ContextEngine,
  method: EngineMethod,
  given: object,
  learned: Learned = nothingLearned(),
) =>
  callCompatibly({
    ...{ method, params: given, learned, declared: engine.info.acceptedHostParams },
    call: (accepted) => (engine[method] as (accepted: object) => unknown)(accepted),
  });

/** Keeps the keys each call of `assemble` was given. */
function keeper(info: Partial<ContextEngine["info"]> = {}) {
  const seen: string[][] = [];
  const base = passThrough({
    assemble: (given) => {
      seen.push(Object.keys(given));
      return { messages: [], estimatedTokens: 0 };
    },
  });
  return { seen, engine: { ...base, info: { ...base.info, ...info } } };
}

const lent = { ...params, sessionTarget: {}, runtimeContext: {} };

describe("what an engine is given", () => {
  it("is decided by its allow-list, at once", async () => {
    const { seen, engine } = keeper({ acceptedHostParams: ["prompt"] });
    await call(engine, "assemble", lent);
    expect(seen).toEqual([["sessionId", "messages", "prompt"]]);
  });

  it("for an assembly is neither the session's store nor the runtime's context, unless it asks", async () => {
    const silent = keeper();
    await call(silent.engine, "assemble", lent);
    expect(silent.seen).toEqual([
      ["sessionId", "messages", "sessionKey", "prompt", "runtimeSettings"],
    ]);
    const asking = keeper({ acceptedHostParams: ["sessionTarget", "runtimeContext"] });
    await call(asking.engine, "assemble", lent);
    expect(asking.seen).toEqual([["sessionId", "messages", "sessionTarget", "runtimeContext"]]);
  });
});

describe("an older strict engine", () => {
  it("is called again without the keys it rejects, and never given them again, in any method", async () => {
    const strict = z.strictObject({ sessionId: z.string(), messages: z.array(z.unknown()) });
    const seen: string[][] = [];
    const engine = passThrough({
      assemble: (given) => {
        seen.push(Object.keys(given));
        strict.parse(given);
        return { messages: [], estimatedTokens: 0 };
      },
      ingest: (given) => ({ ingested: seen.push(Object.keys(given)) > 0 }),
    });
    const learned = nothingLearned();
    await call(engine, "assemble", params, learned);
    expect([...learned.rejected].sort()).toEqual(["prompt", "runtimeSettings", "sessionKey"]);
    await call(engine, "ingest", { sessionId: "s", sessionKey: "k", message: {} }, learned);
    expect(seen.at(-1)).toEqual(["sessionId", "message"]);
  });

  it.each(["agentId", "abortSignal", "sessionTarget", "runtimeContext", "runtimeSettings"])(
    "may refuse %s in compact, even beside an allow-list",
    async (key) => {
      const engine = passThrough({
        info: { id: "strict", name: "Strict", acceptedHostParams: [key] },
        compact: (given) => {
          if (key in given) throw new Error(`Unknown parameter: ${key}`);
          return { ok: true, compacted: false };
        },
      });
      await expect(call(engine, "compact", { sessionId: "s", [key]: {} })).resolves.toEqual({
        ok: true,
        compacted: false,
      });
    },
  );

  it("throws what it threw when nothing new can be left out", async () => {
    const engine = passThrough({
      assemble: () => {
        throw new Error('Unrecognized key: "messages"');
      },
    });
    await expect(call(engine, "assemble", params)).rejects.toThrow("Unrecognized key");
  });
});

describe("an engine that changes what it is given", () => {
  const frozen = (text: string): AgentMessage => {
    const content = Object.freeze([Object.freeze({ type: "text", text })]);
    return Object.freeze({ ...user(text), content }) as unknown as AgentMessage;
  };
  const messages = [frozen("one"), frozen("two")];

  it("is called again with copies of its own, and given copies from then on", async () => {
    let calls = 0;
    const engine = passThrough({
      assemble: (given) => {
        calls++;
        for (const message of given.messages) {
          const [block] = message.role === "user" ? message.content : [];
          if (typeof block === "object" && block.type === "text") block.text += "!";
        }
        delete (given.runtimeSettings as { model?: unknown }).model;
        return { messages: given.messages, estimatedTokens: 0 };
      },
    });
    const learned = nothingLearned();
    const given = { ...params, messages, runtimeSettings: Object.freeze({ model: {} }) };
    for (const total of [2, 3]) {
      const result = (await call(engine, "assemble", given, learned)) as { messages: unknown };
      expect(JSON.stringify(result.messages)).toContain("one!");
      expect(calls).toBe(total);
    }
    expect(JSON.stringify(messages)).not.toContain("!");
  });

  it("has a list of its own at every try", async () => {
    const seen: number[] = [];
    const engine = passThrough({
      assemble: (given) => {
        seen.push(given.messages.length);
        given.messages.length = 0;
        if (seen.length === 1) throw new Error('Unrecognized key: "prompt"');
        return { messages: [], estimatedTokens: 0 };
      },
    });
    await call(engine, "assemble", { ...params, messages });
    expect(seen).toEqual([2, 2]);
    expect(messages).toHaveLength(2);
  });

  it("fails when copies do not help it", async () => {
    let calls = 0;
    const engine = passThrough({
      ingest: () => {
        calls++;
        (Object.freeze({}) as { own?: number }).own = 1;
        return { ingested: true };
      },
    });
    await expect(call(engine, "ingest", { sessionId: "s", message: {} })).rejects.toThrow(
      "not extensible",
    );
    expect(calls).toBe(2);
  });
});
