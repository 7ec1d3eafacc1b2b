import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { clew, runClew } from "../testing/command.ts";
import { startTestGateway } from "../testing/gateway.ts";
import { homeWithOwnPort, temporaryHome } from "../testing/home.ts";

const TOKEN = "0123456789abcdef0123";
const NAMED = `\${${"CLEW_TEST_TOKEN"}}`;
const SAYS =
  "gateway.auth.token names CLEW_TEST_TOKEN, which is not set; set it where the gateway is started, for a service in service.env of the home.";

async function homeWithToken() {
  const home = await homeWithOwnPort();
  const set = (name: string, value: string) => clew(home, ["config", "set", name, value]);
  await set("gateway.auth.token", NAMED);
  await set("agents.defaults.model", "offline/offline");
  return { home, set };
}

describe("a token whose variable is not set", () => {
  it("is refused by start, and by doctor and config validate in the same words", async () => {
    const { home } = await homeWithToken();
    const started = await runClew(home, ["start"]);
    expect(started).toMatchObject({ code: 1, errors: expect.stringContaining(SAYS) });
    const doctor = await clew(home, ["doctor"]);
    expect(doctor).toMatchObject({
      code: 1,
      output: expect.stringContaining(`FAILURE  settings: ${SAYS}`),
    });
    expect(doctor.output).toContain('is not running, and "clew start" would refuse');
    expect(await clew(home, ["config", "validate"])).toMatchObject({ code: 1, output: SAYS });
  });

  it("is none where it is set, and told where only a service has it", async () => {
    const { home } = await homeWithToken();
    const variables = { CLEW_TEST_TOKEN: TOKEN };
    const there = await clew(home, ["doctor"], variables);
    expect(there).toMatchObject({ code: 0, output: expect.stringContaining("starts it") });
    expect((await clew(home, ["config", "validate"], variables)).output).toMatch(/ is right\.$/);
    await writeFile(join(home, "service.env"), `CLEW_TEST_TOKEN=${TOKEN}\n`);
    const doctor = await clew(home, ["doctor"]);
    expect(doctor).toMatchObject({
      code: 0,
      output: expect.stringContaining(
        `note     settings: service.env has what a service needs. Here: ${SAYS}`,
      ),
    });
    expect(await clew(home, ["config", "validate"])).toMatchObject({
      code: 0,
      output: expect.stringContaining(`${SAYS} It is set for a service.`),
    });
  });

  it("is no failure where a gateway runs that has it", async () => {
    const { home } = await homeWithToken();
    const settings = { gateway: { auth: { token: NAMED } } };
    await startTestGateway(settings, home, { CLEW_TEST_TOKEN: TOKEN });
    expect((await clew(home, ["doctor"])).output).toContain(
      `note     settings: the gateway that runs was started elsewhere. Here: ${SAYS}`,
    );
  });

  it("is a warning of config validate in a file that is not this home's", async () => {
    const { home } = await homeWithToken();
    const other = await temporaryHome();
    const file = join(home, "clew.json");
    expect(await clew(other, ["config", "validate", file])).toMatchObject({
      code: 0,
      output: `warning: ${SAYS}\n${file} is right, with 1 warning.`,
    });
  });
});

describe("a key or a tool server whose variable is not set", () => {
  it("is told by config validate by its name, and keeps nothing from starting", async () => {
    const { home, set } = await homeWithToken();
    await set(
      "models.providers.house",
      `{ baseUrl: "http://127.0.0.1:1/v1", apiKey: "\${HOUSE}" }`,
    );
    await set("mcp.servers.notes", `{ url: "http://127.0.0.1:1/", headers: { a: "\${NOTES}" } }`);
    const { code, output } = await clew(home, ["config", "validate"], { CLEW_TEST_TOKEN: TOKEN });
    expect(code).toBe(0);
    expect(output).toContain(
      "warning: models.providers.house.apiKey names HOUSE, which is not set here.",
    );
    expect(output).toMatch(/warning: .*NOTES/);
  });
});

it("a service that is installed is told to lack what the settings name", async () => {
  const { home } = await homeWithToken();
  const env = { HOME: home, XDG_CONFIG_HOME: join(home, "config"), CLEW_TEST_TOKEN: TOKEN };
  const install = ["service", "install", "--system", "systemd", "--no-start"];
  expect((await runClew(home, install, { env })).errors).toContain("write CLEW_TEST_TOKEN into");
  await writeFile(join(home, "service.env"), `CLEW_TEST_TOKEN=${TOKEN}\n`);
  expect((await runClew(home, install, { env })).errors).toBe("");
});

it("a variable that service.env sets twice is told with the line that counts", async () => {
  const { home } = await homeWithToken();
  const file = join(home, "service.env");
  await writeFile(file, `CLEW_TEST_TOKEN=short\nOTHER=1\nCLEW_TEST_TOKEN=${TOKEN}\n`);
  const says = `${file} sets CLEW_TEST_TOKEN twice, in lines 1 and 3, and line 3 counts; take the other one out.`;
  const env = { CLEW_TEST_TOKEN: TOKEN };
  expect((await clew(home, ["doctor"], env)).output).toContain(`warning  settings: ${says}`);
  const validated = await clew(home, ["config", "validate"], env);
  expect(validated.code).toBe(0);
  expect(validated.output).toContain(`warning: ${says}`);
});
