// What counts as a turn that broke off.
import { ContextEngineError } from "@clew/plugin-sdk/core";
import { expect, it } from "vitest";
import { type TurnEnd, watchedTurn, watchTurns } from "./turn-ends.ts";

it("a turn breaks by what nobody expects, not by a full disk, a person or a model", async () => {
  const ends: TurnEnd[] = [];
  watchTurns((end) => ends.push(end));
  const failing = (error: unknown) => () => Promise.reject(error);
  const giving = (result: object) => async () => ({ outcome: "failed", ...result });
  await watchedTurn(giving({ outcome: "completed" }));
  await watchedTurn(giving({ error: { kind: "host", message: "taken" } }));
  await expect(watchedTurn(failing(new TypeError("taken")))).rejects.toThrow("taken");
  expect(ends.splice(0)).toEqual(["completed", "broken", "broken"]);
  await watchedTurn(giving({ outcome: "aborted", error: { kind: "aborted", message: "" } }));
  await watchedTurn(giving({ error: { kind: "unavailable", message: "down" } }));
  await watchedTurn(giving({ error: { kind: "host", code: "STORAGE_FAILED", message: "full" } }));
  for (const error of [
    new ContextEngineError("STORAGE_FAILED", "full"),
    new DOMException("The person.", "AbortError"),
  ])
    await expect(watchedTurn(failing(error))).rejects.toBe(error);
  expect(ends).toEqual([]);
});
