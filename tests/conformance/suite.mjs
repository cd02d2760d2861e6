// The public conformance suite, as the lock file pins it.

import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const NODE_MAJOR = 22;

const here = dirname(fileURLToPath(import.meta.url));
export const suite = join(here, "node_modules/@modelcontextprotocol/conformance");

/** A Node that is new enough for the suite: this one, or that of the lock file. */
export function findNode() {
  if (Number(process.versions.node.split(".")[0]) >= NODE_MAJOR) return process.execPath;
  const { platform, arch } = process;
  const node = join(here, "node_modules", `node-${platform}-${arch}`, "bin/node");
  if (existsSync(node)) return node;
  console.error(`conformance: this Node is ${process.version}, the suite needs ${NODE_MAJOR}, and package.json brings none for ${platform}-${arch}`);
  return process.exit(1);
}

/** The scenarios that the suite scores a server or a client of this revision by. */
export function required(revision, side) {
  const lines = readFileSync(join(suite, "requirements", `${revision}.yaml`), "utf8").split("\n");
  const rest = lines.slice(lines.indexOf(`${side}:`) + 1);
  const end = rest.findIndex((line) => !line.startsWith("  - "));
  return new Set(rest.slice(0, end).map((line) => line.slice("  - ".length)));
}
