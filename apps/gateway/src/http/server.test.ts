import { expect, it } from "vitest";
import { startTestGateway } from "../testing/gateway.ts";

it("a server leaves what it shares with plugins as it is, so that none is blamed for it", async () => {
  const { Request: request, Response: response } = globalThis;
  const { get } = await startTestGateway();
  expect((await get("/api/health")).status).toBe(200);
  expect([globalThis.Request === request, globalThis.Response === response]).toEqual([true, true]);
});
