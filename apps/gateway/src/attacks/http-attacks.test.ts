import { describe, expect, it } from "vitest";
import { startTestGateway } from "../testing/gateway.ts";
import { HTTP_ATTACKS } from "./http-attacks.ts";
import { sendRaw } from "./raw-http.ts";

const AT_ONCE = 16;

describe("a gateway", () => {
  it("holds against what hostile programs and pages of this machine send", async () => {
    const { url, get, home } = await startTestGateway({
      gateway: { limits: { bodyBytes: 65_536 } },
    });
    const port = Number(new URL(url).port);
    expect(HTTP_ATTACKS.length).toBeGreaterThanOrEqual(143);
    const names = HTTP_ATTACKS.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    const fell: string[] = [];
    const left = [...HTTP_ATTACKS];
    const attackers = Array.from({ length: AT_ONCE }, async () => {
      for (let attack = left.shift(); attack !== undefined; attack = left.shift()) {
        const { statuses, text } = await sendRaw(port, attack.bytes(port));
        const came = statuses.length === 0 ? (["closed"] as const) : statuses;
        // A second answer would be one to a request that was hidden in the first.
        const isHeld = came.length === 1 && attack.held.includes(came[0]!);
        const isQuiet = !/root:|"scripts"|BEGIN|stack|node:internal/.test(text);
        if (!isHeld || !isQuiet || text.includes(home))
          fell.push(`${attack.name}: ${came.join(" ")} ${text.slice(0, 300)}`);
      }
    });
    await Promise.all(attackers);
    expect(fell).toEqual([]);
    expect((await get("/api/health")).status).toBe(200);
    expect(await (await get("/api/sessions")).json()).toMatchObject({ sessions: [], next: null });
  });
});
