import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { FLOORS } from "./floors.ts";
import { releaseOrder, workspacePackages } from "./packages.ts";

interface Step {
  name?: string;
  uses?: string;
  run?: string;
  with?: Record<string, unknown>;
}
interface Job {
  needs?: string | string[];
  if?: string;
  permissions?: Record<string, string>;
  strategy?: { matrix: Record<string, string[]>; "fail-fast"?: boolean };
  steps: Step[];
}
interface Workflow {
  on: Record<string, unknown>;
  permissions?: Record<string, string>;
  jobs: Record<string, Job>;
}

const FOLDER = ".github/workflows";
const files = readdirSync(FOLDER).map((name) => ({
  name,
  text: readFileSync(`${FOLDER}/${name}`, "utf8"),
}));
const workflow = (name: string) =>
  parse(files.find((file) => file.name === name)!.text) as Workflow;
const release = workflow("release.yml");
const ci = workflow("ci.yml");

const jobs = files.flatMap(({ name, text }) => {
  const { permissions = {}, jobs: all } = parse(text) as Workflow;
  return Object.entries(all).map(([id, job]) => ({
    where: `${name}: ${id}`,
    job,
    permissions: job.permissions ?? permissions,
  }));
});
const scriptsOf = ({ steps }: Job) => steps.map(({ run = "" }) => run).join("\n");
const uses = ({ steps }: Job, action: string) =>
  steps.filter((step) => step.uses?.startsWith(`actions/${action}@`));
/** Anything that could run code of this checkout or of a dependency. */
const RUNS_CODE =
  /\bnode\b|\bnpx\b|\bpnpm\b|\.ci\/run|npm (ci|i|install|run|test|exec)\b|\b(?:curl|wget|bash|sh|eval|source|python\d?)\b/;

describe("the workflows", () => {
  it.each(files)(
    "$name names every action by its commit, and the version beside it",
    ({ text }) => {
      const lines = text.split("\n").filter((line) => /\buses:/.test(line));
      for (const line of lines)
        expect(line).toMatch(/uses: [\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
    },
  );

  it.each(files)("$name knows no secret but the token of its own run", ({ text }) => {
    expect(text).not.toMatch(/secrets\.|NPM_TOKEN|NODE_AUTH_TOKEN/);
  });

  it.each(files)(
    "$name says what each job may do, and by default nothing is written",
    ({ text }) => {
      const { permissions } = parse(text) as Workflow;
      expect(permissions).toBeDefined();
      expect(Object.values(permissions!).filter((right) => right !== "read")).toEqual([]);
    },
  );

  it.each(jobs)("$where puts nothing from outside into a script", ({ job }) => {
    expect(scriptsOf(job)).not.toContain("${{");
  });

  it.each(jobs.filter(({ job }) => RUNS_CODE.test(scriptsOf(job))))(
    "$where runs code, so it may only read and keeps no credentials",
    ({ job, permissions }) => {
      expect(permissions).toEqual({ contents: "read" });
      for (const checkout of uses(job, "checkout"))
        expect(checkout.with?.["persist-credentials"]).toBe(false);
    },
  );

  it("give a writing right to three jobs, none of which runs code", () => {
    const writing = jobs.filter(({ permissions }) => Object.values(permissions).includes("write"));
    expect(writing.map(({ where }) => where)).toEqual([
      "release.yml: propose",
      "release.yml: publish",
      "release.yml: tag",
    ]);
    for (const { job } of writing) expect(scriptsOf(job)).not.toMatch(RUNS_CODE);
  });
});

describe("a release", () => {
  const { build, publish, propose, tag } = release.jobs as Record<string, Job>;

  it("is built, tested and packed before anything has a right", () => {
    expect(scriptsOf(build!)).toMatch(/\.ci\/run[\s\S]*release:pack --to-publish/);
    expect(publish!.needs).toBe("build");
    expect(propose!.needs).toBe("build");
    expect(tag!.needs).toBe("publish");
  });

  it("is published by the identity of its job, without a token", () => {
    expect(publish!.permissions).toEqual({ "id-token": "write" });
    expect(uses(publish!, "checkout")).toEqual([]);
    expect(scriptsOf(publish!)).toContain('npm publish "./$file" --access public');
    // npm learnt trusted publishing in 11.5, which comes with Node 24.
    expect(Number(uses(publish!, "setup-node")[0]!.with!["node-version"])).toBeGreaterThanOrEqual(
      24,
    );
  });

  it("publishes only what the build packed", () => {
    const uploaded = uses(build!, "upload-artifact").map((step) => step.with!.name);
    const downloaded = uses(publish!, "download-artifact").map((step) => step.with!.name);
    expect(downloaded).toEqual(uploaded);
  });

  it("either proposes versions or publishes, never both", () => {
    expect(propose!.if).toBe("needs.build.outputs.next == 'version'");
    expect(publish!.if).toBe("needs.build.outputs.next == 'publish'");
  });
});

describe("continuous integration", () => {
  const { floors, pack, changesets } = ci.jobs as Record<string, Job>;

  it("tries the packed packages on every floor and every system", () => {
    expect(floors!.needs).toBe("pack");
    expect(scriptsOf(pack!)).toContain("release:pack");
    expect(scriptsOf(floors!)).toContain("try-tarballs.mjs");
    expect(floors!.strategy).toEqual({
      "fail-fast": false,
      matrix: { node: FLOORS, os: ["ubuntu-latest", "macos-latest", "windows-latest"] },
    });
  });

  it("counts every Node that a released package names as its oldest among the floors", () => {
    const oldest = releaseOrder(workspacePackages(process.cwd())).map(
      ({ manifest }) => /^>=(\d+\.\d+)$/.exec(manifest.engines?.node ?? "")?.[1],
    );
    expect(FLOORS).toEqual(expect.arrayContaining([...new Set(oldest)]));
  });

  it("asks of every pull request that its changes are named by changesets", () => {
    expect(ci.on).toHaveProperty("pull_request");
    expect(changesets!.if).toBe("github.event_name == 'pull_request'");
    expect(uses(changesets!, "checkout")[0]!.with!["fetch-depth"]).toBe(0);
    expect(scriptsOf(changesets!)).toContain('release:changes --since "origin/$BASE"');
  });
});

describe("every night", () => {
  const { skew } = workflow("nightly.yml").jobs as Record<string, Job>;

  it("tries this release with the one before, whose tag it can see", () => {
    expect(scriptsOf(skew!)).toContain("release:skew");
    expect(uses(skew!, "checkout")[0]!.with!["fetch-depth"]).toBe(0);
  });
});
