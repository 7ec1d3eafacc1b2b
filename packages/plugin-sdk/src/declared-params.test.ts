import { expect, it } from "vitest";
import { declaredParams } from "./declared-params.ts";

const params = {
  sessionId: "s",
  messages: [],
  sessionKey: "k",
  sessionTarget: {},
  prompt: "p",
  runtimeSettings: {},
  runtimeContext: {},
  abortSignal: AbortSignal.abort(),
};

it.each([
  ["assemble", [], ["sessionId", "messages"]],
  ["assemble", ["prompt"], ["sessionId", "messages", "prompt"]],
  ["assemble", ["something else"], ["sessionId", "messages"]],
  // An engine must always hear that it shall stop.
  ["compact", [], ["sessionId", "messages", "abortSignal"]],
] as const)("%s with %o declared is given %o", (method, declared, given) => {
  expect(Object.keys(declaredParams(method, params, declared))).toEqual(given);
});
