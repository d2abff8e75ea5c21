import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";

export const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/** One import of a source file, types included. */
export interface Import {
	/** Path of the importing file, relative to the project's root. */
	readonly from: string;
	/** The same of the imported one; or a package's or built-in module's name. */
	readonly to: string;
	readonly kind: "file" | "package" | "builtin";
	readonly isTypeOnly: boolean;
	readonly isDynamic: boolean;
}

/** All TypeScript files below a folder of the project. */
export function sourceFiles(folder: string): readonly string[] {
	return readdirSync(join(ROOT, folder), {
		recursive: true,
		withFileTypes: true,
	})
		.filter((entry) => entry.isFile() && entry.name.endsWith(".ts"))
		.map((entry) => relative(ROOT, join(entry.parentPath, entry.name)));
}

/** What a file imports and re-exports, statically and by `import()`. */
export function importsOf(file: string): readonly Import[] {
	const source = parse(file);
	const found: Import[] = [];
	const add = (
		to: ts.Expression | undefined,
		type: boolean,
		dynamic: boolean,
	) => {
		if (to !== undefined && ts.isStringLiteral(to)) {
			found.push({
				from: file,
				...target(file, to.text),
				isTypeOnly: type,
				isDynamic: dynamic,
			});
		}
	};
	const visit = (node: ts.Node) => {
		if (ts.isImportDeclaration(node)) {
			add(node.moduleSpecifier, isTypeOnlyImport(node), false);
		} else if (ts.isExportDeclaration(node)) {
			add(node.moduleSpecifier, node.isTypeOnly, false);
		} else if (
			ts.isCallExpression(node) &&
			node.expression.kind === ts.SyntaxKind.ImportKeyword
		) {
			add(node.arguments[0], false, true);
		}
		ts.forEachChild(node, visit);
	};
	visit(source);
	return found;
}

export function parse(file: string): ts.SourceFile {
	const text = readFileSync(join(ROOT, file), "utf8");
	return ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
}

function isTypeOnlyImport(node: ts.ImportDeclaration): boolean {
	const clause = node.importClause;
	if (clause === undefined) return false;
	if (clause.isTypeOnly) return true;
	const named = clause.namedBindings;
	return (
		clause.name === undefined &&
		named !== undefined &&
		ts.isNamedImports(named) &&
		named.elements.length > 0 &&
		named.elements.every((element) => element.isTypeOnly)
	);
}

function target(from: string, specifier: string): Pick<Import, "to" | "kind"> {
	if (specifier.startsWith("node:")) return { to: specifier, kind: "builtin" };
	if (!specifier.startsWith(".")) return { to: specifier, kind: "package" };
	const path = resolve(ROOT, dirname(from), specifier);
	const source = path.replace(/\.js$/, ".ts");
	return {
		to: relative(ROOT, existsSync(source) ? source : path),
		kind: "file",
	};
}

/** The packages and files that are loaded, at once, with a file. */
export function loadedWith(file: string): readonly Import[] {
	const seen = new Set<string>();
	const all: Import[] = [];
	const follow = (path: string) => {
		if (seen.has(path)) return;
		seen.add(path);
		for (const each of importsOf(path)) {
			if (each.isTypeOnly || each.isDynamic) continue;
			all.push(each);
			if (each.kind === "file") follow(each.to);
		}
	};
	follow(file);
	return all;
}
