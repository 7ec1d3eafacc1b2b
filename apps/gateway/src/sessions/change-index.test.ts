// Changes the index of an agent's sessions many times at once.
import { describe, expect, it } from "vitest";
import { temporaryHome } from "../testing/home.ts";
import { changeIndex } from "./change-index.ts";
import { readIndex, type SessionIndex } from "./index-file.ts";

const naming = (key: string) => async (index: SessionIndex) => ({
  ...index,
  [key]: { sessionId: `id-${key.replaceAll(":", "-")}` },
});

describe("changes of an index that are asked for at once", () => {
  it("are all made, each from what the one before it left", async () => {
    const home = await temporaryHome();
    const keys = Array.from({ length: 40 }, (_, count) => `agent:main:chat-${count}`);
    const made = await Promise.all(keys.map((key) => changeIndex(home, "main", naming(key))));
    expect(Object.keys((await readIndex(home, "main")) ?? {})).toEqual(keys);
    for (const [count, { before, after }] of made.entries()) {
      expect(Object.keys(before)).toEqual(keys.slice(0, count));
      expect(Object.keys(after)).toEqual(keys.slice(0, count + 1));
    }
  });

  it("are written together, and are there when they are told", async () => {
    const home = await temporaryHome();
    const seen: number[] = [];
    const change = async (key: string) => {
      await changeIndex(home, "main", naming(key));
      seen.push(Object.keys((await readIndex(home, "main")) ?? {}).length);
    };
    await Promise.all(Array.from({ length: 20 }, (_, count) => change(`agent:main:chat-${count}`)));
    // The first one goes at once, and all that came meanwhile behind it.
    expect(new Set(seen).size).toBeLessThan(4);
    expect(Math.min(...seen)).toBeGreaterThan(0);
  });

  it("fail alone", async () => {
    const home = await temporaryHome();
    const failing = changeIndex(home, "main", () => Promise.reject(new Error("No.")));
    const others = ["a", "b"].map((key) => changeIndex(home, "main", naming(key)));
    await expect(failing).rejects.toThrow("No.");
    await Promise.all(others);
    expect(Object.keys((await readIndex(home, "main")) ?? {})).toEqual(["a", "b"]);
    const same = await changeIndex(home, "main", async (index) => index);
    expect(same.after).toBe(same.before);
  });
});
