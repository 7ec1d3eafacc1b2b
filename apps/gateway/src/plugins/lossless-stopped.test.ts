// What an operator is told, within the turn, of a lossless engine that stores nothing any more.
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, it } from "vitest";
import { clew } from "../testing/command.ts";
import { homeWithOwnPort } from "../testing/home.ts";
import { startServedGateway } from "../testing/plugins.ts";

it("a stopped ingest is in the turn's report, the log, /status and clew doctor", async () => {
  const home = await homeWithOwnPort();
  const config = { plugins: { slots: { contextEngine: "lossless" } } };
  const { gateway, log } = await startServedGateway(config, home);
  await gateway.send({ key: "main", content: "one" });
  const db = new DatabaseSync(join(home, "agents/main/clew-lossless/lossless.db"));
  db.exec(`
    CREATE TRIGGER stop AFTER INSERT ON link
    BEGIN DELETE FROM message WHERE seq = new.message; END
  `);
  db.close();
  const { report } = await gateway.send({ key: "main", content: "two" });
  expect(report.engine.degraded?.reason).toContain("took them and does not hold them");
  expect(JSON.stringify(log)).toContain("does not hold them");
  const status = await gateway.command("main", { kind: "command", name: "status", args: "" });
  expect(status.text).toContain("does not hold them");
  const doctor = await clew(home, ["doctor"]);
  expect(doctor.output).toMatch(
    /^warning +engine: "lossless" has been set aside .*does not hold them/m,
  );
});
