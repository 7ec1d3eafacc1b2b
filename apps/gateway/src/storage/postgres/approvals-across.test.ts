import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  UNLESS_THERE,
  whyNoPostgres,
} from "../../../../../packages/store-postgres/src/testing/shared.ts";
import type { Approval } from "../../approvals/approval.ts";
import { clew } from "../../testing/command.ts";
import { parseStream, post } from "../../testing/gateway.ts";
import { temporaryHome } from "../../testing/home.ts";
import { type Member, startMembers } from "../../testing/member-gateways.ts";
import { obedientModel, run } from "../../testing/obedient-model.ts";

const SAY = "/api/sessions/main/messages";
const SOON = { timeout: 60_000, interval: 50 };

describe.skipIf(whyNoPostgres() !== null)(`a tool that waits for a person ${UNLESS_THERE}`, () => {
  it("is shown and answered at any gateway, by whom that one knows as its person", {
    timeout: 120_000,
  }, async () => {
    const { config } = await obedientModel({ enabled: true });
    const all = { ...config, tools: { shell: "ask" } };
    const [one, two, three] = await startMembers(["one", "two", "three"], all);
    await (await one!.asks("own", SAY, post({ text: "Here." }))).text();
    const folder = await temporaryHome();
    const pending = async (at: Member): Promise<Approval[]> =>
      (await (await at.asks("own", "/api/approvals")).json()).approvals;
    const said = async (text: string) =>
      parseStream(await (await two!.asks("own", SAY, post({ text }))).text());
    const command = (name: string) =>
      run("run_command", { command: `echo > ${join(folder, name)}` });

    const first = said(command("first"));
    await expect.poll(() => pending(two!), SOON).toHaveLength(1);
    const [{ id } = { id: "" }] = await pending(one!);
    expect(await pending(three!)).toMatchObject([{ id, sessionKey: "agent:main:main" }]);
    const answer = (at: Member, token: "own" | "chat") =>
      at.asks(token, `/api/approvals/${id}/once`, { method: "POST" });
    expect((await answer(two!, "chat")).status).toBe(403);
    const counted = await answer(three!, "own");
    expect([counted.status, (await counted.json()).end]).toEqual([
      ...[200, { kind: "answered", answer: "once", at: "http" }],
    ]);
    expect((await first).events.at(-1)).toMatchObject({ type: "done", outcome: "completed" });
    const late = await answer(two!, "own");
    expect([late.status, (await late.json()).error.code]).toEqual([409, "APPROVAL_OVER"]);

    const second = said(command("second"));
    await expect.poll(() => pending(two!), SOON).toHaveLength(1);
    const [asked] = await pending(two!);
    const listed = await clew(two!.home, ["approvals", "list"]);
    expect(listed.output).toContain(asked!.id);
    expect((await clew(two!.home, ["approvals", "answer", asked!.id, "no"])).code).toBe(0);
    expect((await second).events.at(-1)).toMatchObject({ type: "done", outcome: "completed" });

    const nobody = await two!.asks("own", "/api/approvals/0000/once", { method: "POST" });
    expect(nobody.status).toBe(404);
  });
});
