// The public conformance suite, as the lock file pins it.

import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

import { findNode as findNodeIn } from "../node.mjs";

const here = dirname(fileURLToPath(import.meta.url));
export const suite = join(here, "node_modules/@modelcontextprotocol/conformance");

/** A Node that is new enough for the suite. */
export const findNode = () => findNodeIn(here, 22, "conformance");

/** The scenarios that the suite scores a server or a client of this revision by. */
export function required(revision, side) {
  const lines = readFileSync(join(suite, "requirements", `${revision}.yaml`), "utf8").split("\n");
  const rest = lines.slice(lines.indexOf(`${side}:`) + 1);
  const end = rest.findIndex((line) => !line.startsWith("  - "));
  return new Set(rest.slice(0, end).map((line) => line.slice("  - ".length)));
}
