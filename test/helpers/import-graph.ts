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
	/** What is imported by name; `*` where it is all. */
	readonly names: readonly string[];
	/** Of these names, what is not a type only. */
	readonly values: readonly string[];
}

/** All TypeScript files below a folder of the project. */
export function sourceFiles(folder: string): readonly string[] {
	return allFiles(folder).filter((file) => /\.tsx?$/.test(file));
}

/** All files below a folder of the project, less what Python leaves there. */
export function allFiles(folder: string): readonly string[] {
	return readdirSync(join(ROOT, folder), {
		recursive: true,
		withFileTypes: true,
	})
		.filter((entry) => entry.isFile() && !entry.name.endsWith(".pyc"))
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
		bindings?: ts.NamedImportBindings | ts.NamedExportBindings,
	) => {
		if (to !== undefined && ts.isStringLiteral(to)) {
			found.push({
				from: file,
				...target(file, to.text),
				isTypeOnly: type,
				isDynamic: dynamic,
				names: namesOf(bindings, () => true),
				values: namesOf(bindings, ({ isTypeOnly }) => !isTypeOnly),
			});
		}
	};
	const visit = (node: ts.Node) => {
		if (ts.isImportDeclaration(node)) {
			add(
				node.moduleSpecifier,
				isTypeOnlyImport(node),
				false,
				node.importClause?.namedBindings,
			);
		} else if (ts.isExportDeclaration(node)) {
			add(node.moduleSpecifier, node.isTypeOnly, false, node.exportClause);
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

function namesOf(
	bindings: ts.NamedImportBindings | ts.NamedExportBindings | undefined,
	isWanted: (element: ts.ImportSpecifier | ts.ExportSpecifier) => boolean,
): readonly string[] {
	const isNamed =
		bindings !== undefined &&
		(ts.isNamedImports(bindings) || ts.isNamedExports(bindings));
	if (!isNamed) return ["*"];
	return [...bindings.elements]
		.filter(isWanted)
		.map(({ name, propertyName }) => (propertyName ?? name).getText());
}

const parsed = new Map<string, ts.SourceFile>();

export function parse(file: string): ts.SourceFile {
	const known = parsed.get(file);
	if (known !== undefined) return known;
	const text = readFileSync(join(ROOT, file), "utf8");
	const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
	parsed.set(file, source);
	return source;
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
	const source = [".ts", ".tsx"]
		.map((extension) => path.replace(/\.js$/, extension))
		.find(existsSync);
	return {
		to: relative(ROOT, source ?? path),
		kind: "file",
	};
}

/** The packages and files that the built program loads, at once, with a file: of a room only what stands behind the names. */
export function loadedWith(file: string): readonly Import[] {
	const seen = new Set<string>();
	const all: Import[] = [];
	const follow = (path: string, names: readonly string[]) => {
		const isDoor = path.endsWith("/index.ts");
		const key = isDoor ? `${path} ${names.join()}` : path;
		if (seen.has(key)) return;
		seen.add(key);
		for (const each of importsOf(path)) {
			if (each.isTypeOnly || each.isDynamic || each.values.length === 0) {
				continue;
			}
			const wanted = each.values.filter((name) => names.includes(name));
			if (isDoor && !names.includes("*") && wanted.length === 0) continue;
			all.push(each);
			if (each.kind === "file") follow(each.to, isDoor ? wanted : each.values);
		}
	};
	follow(file, ["*"]);
	return all;
}
