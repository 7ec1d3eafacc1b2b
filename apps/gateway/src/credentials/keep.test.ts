import { expect, it } from "vitest";
import type { CredentialSource, Reach } from "./credential.ts";
import { keepCredential } from "./keep.ts";

const MINUTE = 60_000;

/** A source whose credentials live for so long, and that fails while it is told to. */
function startSource(lifeMs: number | null) {
  const state = { now: 0, asked: 0, fails: false };
  const source: CredentialSource = {
    name: "a test",
    account: "a",
    obtain: async ({ now }) => {
      state.asked++;
      await Promise.resolve();
      if (state.fails) throw new Error("not now");
      const expiresAt = lifeMs === null ? null : now() + lifeMs;
      return { kind: "key", key: `key-${state.asked}`, expiresAt };
    },
  };
  const reach: Reach = { fetch, now: () => state.now, readText: () => undefined };
  return { state, kept: keepCredential(source, reach) };
}

it("is asked for once by callers at the same time", async () => {
  const { state, kept } = startSource(60 * MINUTE);
  const all = await Promise.all([kept.get(), kept.get(), kept.get()]);
  expect(new Set(all).size).toBe(1);
  expect(state.asked).toBe(1);
});

it("is replaced before it ends, and not earlier", async () => {
  const { state, kept } = startSource(60 * MINUTE);
  await kept.get();
  state.now = 54 * MINUTE;
  expect(await kept.get()).toMatchObject({ key: "key-1" });
  state.now = 55 * MINUTE;
  expect(await kept.get()).toMatchObject({ key: "key-2" });
});

it("that lives shortly is used for half of its life", async () => {
  const { state, kept } = startSource(4 * MINUTE);
  await kept.get();
  state.now = 1.9 * MINUTE;
  await kept.get();
  expect(state.asked).toBe(1);
  state.now = 2 * MINUTE;
  await kept.get();
  expect(state.asked).toBe(2);
});

it("that cannot be replaced is used until its end", async () => {
  const { state, kept } = startSource(60 * MINUTE);
  await kept.get();
  state.fails = true;
  state.now = 56 * MINUTE;
  expect(await kept.get()).toMatchObject({ key: "key-1" });
  state.now = 60 * MINUTE;
  await expect(kept.get()).rejects.toThrow("not now");
  state.fails = false;
  expect(await kept.get()).toMatchObject({ key: "key-4" });
});

it("that does not end is kept", async () => {
  const { state, kept } = startSource(null);
  await kept.get();
  state.now = 1e15;
  await kept.get();
  expect(state.asked).toBe(1);
});

it("that has ended already is not used, and the person is told so", async () => {
  const { kept } = startSource(-1000);
  await expect(kept.get()).rejects.toThrow(
    "a test gave credentials that ended at 1969-12-31T23:59:59.000Z; renew them there, or correct the clock of this machine",
  );
});
