// Asks the addresses by which `clew acp` brings an editor.
import { describe, expect, it } from "vitest";
import { post, startTestGateway } from "../testing/gateway.ts";

const token = "own-token-0123456789";
const start = () => startTestGateway({ gateway: { auth: { token } } });
const asked = (body: unknown) => {
  const { headers, ...init } = post(body);
  return {
    ...init,
    headers: { ...(headers as Record<string, string>), authorization: `Bearer ${token}` },
  };
};

describe("an editor", () => {
  it("is told that there is no such agent", async () => {
    const gateway = await start();
    const answer = await gateway.get("/api/acp?agent=nobody", { method: "POST", ...asked({}) });
    expect(answer.status).toBe(400);
    expect(await answer.text()).toContain('There is no agent \\"nobody\\"');
  });

  it("is told that its connection is gone", async () => {
    const gateway = await start();
    const message = { jsonrpc: "2.0", method: "initialize", id: 1 };
    const answer = await gateway.get("/api/acp/gone", { method: "POST", ...asked(message) });
    expect(answer.status).toBe(404);
    expect(await answer.text()).toContain("connect it again");
  });
});
