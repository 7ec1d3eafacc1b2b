import { writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { clew } from "../testing/command.ts";
import { temporaryHome } from "../testing/home.ts";
import { patientFetch } from "./patience.ts";

async function silentServer(): Promise<string> {
  const server = createServer(() => {}).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
}

it("a server is waited for as long as its setting says, and the setting is named", async () => {
  const home = await temporaryHome();
  const providers = { house: { baseUrl: await silentServer(), timeoutSeconds: 0.05 } };
  const agents = { defaults: { model: "house/m" } };
  await writeFile(join(home, "clew.json"), JSON.stringify({ agents, models: { providers } }));
  const { code, errors } = await clew(home, ["chat", "-s", "main", "hi"]);
  expect(code).toBe(1);
  expect(errors).toContain("sent nothing for 0.05 s");
  expect(errors).toContain("models.providers.house.timeoutSeconds");
});

it("the limit of fetch itself is the one that is asked for", async () => {
  const asked = patientFetch(10)(await silentServer());
  await expect(asked).rejects.toMatchObject({ cause: { code: "UND_ERR_HEADERS_TIMEOUT" } });
});
