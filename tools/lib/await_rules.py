"""The clang-query matchers of check_await. Each stays inside one function, so that a lambda's own awaits are not held against its maker."""

# `own` keeps the search out of system headers, `setsF` binds the function that an expression belongs to, and `inF` and `awaits` hold what
# is found to that function. A binding must stand before what compares with it, and what is cheap or rare before what is dear.
# clang-query takes no underscore in a name.
PRELUDE = """
let own unless(isExpansionInSystemHeader())
let setsF forCallable(decl().bind("f"))
let inF forCallable(decl(equalsBoundNode("f")))
let awaits coawaitExpr(forCallable(decl(equalsBoundNode("f"))))
let awaited expr(anyOf(awaits, hasDescendant(awaits)))
let hasAwait hasDescendant(awaits)
let mayAwait hasDescendant(coawaitExpr())
let holdsAwait expr(anyOf(coawaitExpr(), hasDescendant(coawaitExpr())))
let classType hasType(hasUnqualifiedDesugaredType(recordType()))
let bracedType hasType(hasUnqualifiedDesugaredType(anyOf(recordType(), arrayType())))
let byFunction expr(anyOf(cxxConstructExpr(), callExpr(), coawaitExpr(), conditionalOperator(), binaryOperator(), castExpr(), stmtExpr()))
let inPlace cxxBindTemporaryExpr(has(expr(unless(byFunction))))
let aggregateDefault cxxDefaultArgExpr(hasDescendant(inPlace))
let temporaryHere expr(anyOf(materializeTemporaryExpr(), cxxBindTemporaryExpr()))
let ownVariable declStmt(inF, has(varDecl(unless(isImplicit()))))
let notLambda unless(cxxMethodDecl(ofClass(cxxRecordDecl(isLambda()))))
let resultType hasType(hasUnqualifiedDesugaredType(recordType(hasDeclaration(cxxRecordDecl(hasName("::std::expected"))))))
let assignment cxxOperatorCallExpr(isAssignmentOperator())
let givesReference callExpr(callee(functionDecl(returns(hasCanonicalType(referenceType())))))
let discardable expr(anyOf(coawaitExpr(), callExpr()), resultType, unless(assignment), unless(givesReference))
let statement stmt(anyOf(compoundStmt(), ifStmt(), whileStmt(), doStmt(), forStmt(), cxxForRangeStmt(), caseStmt(), defaultStmt(), labelStmt()))
"""

# name -> what to do instead
RULES = {
    "temporary": "g++ destroys this temporary twice when the expression awaits: give it a name in a statement before",
    "default_argument": "g++ destroys an aggregate default argument twice when the expression awaits: make it a class with a constructor, or pass a named object",
    "conditional": "g++ destroys what ?: yields twice when the expression awaits: use if, or give the value a name before",
    "new_expression": "g++ destroys the argument twice: await into a named object before `new`",
    "init_capture": "g++ destroys the capture twice: await into a named object and capture that",
    "braces": "g++ destroys members twice: await into a named object before the braces",
    "initializer_list": "g++ rejects an initializer_list in an expression that awaits: give the list a name before",
    "short_circuit": "g++ crashes on a temporary before an await in one && or ||: await in a statement of its own",
    "condition": "g++ lays the frame of a coroutine without local variables out wrongly when it awaits in a condition: give what was awaited a name first",
    "discarded_result": "a result says whether it worked: look at it, or cast it to void",
}

# What may not stand beside an await in one full expression, then what is wrong by itself. Each binds the place to its rule's name.
BESIDE_AWAIT = [
    'cxxBindTemporaryExpr(inPlace, inF, unless(hasAncestor(cxxDefaultArgExpr()))).bind("temporary")',
    'callExpr(hasAnyArgument(aggregateDefault), inF).bind("default_argument")',
    'cxxConstructExpr(hasAnyArgument(aggregateDefault), inF).bind("default_argument")',
    'conditionalOperator(classType, inF).bind("conditional")',
    'cxxStdInitializerListExpr(inF).bind("initializer_list")',
]
CONDITIONS = ", ".join(f"{kind}(hasCondition(awaited))" for kind in ("ifStmt", "whileStmt", "doStmt", "forStmt", "switchStmt"))
MATCHERS = [
    *(f"exprWithCleanups(own, mayAwait, setsF, hasAwait, forEachDescendant({matcher}))" for matcher in BESIDE_AWAIT),
    'conditionalOperator(own, mayAwait, setsF, hasAwait).bind("conditional")',
    'cxxNewExpr(own, mayAwait, setsF, hasAwait).bind("new_expression")',
    'lambdaExpr(own, forEachLambdaCapture(lambdaCapture(capturesVar(varDecl(isInitCapture(), hasInitializer(holdsAwait)))))).bind("init_capture")',
    'initListExpr(own, bracedType, mayAwait, setsF, hasAwait).bind("braces")',
    'coawaitExpr(own, hasDescendant(cxxStdInitializerListExpr()), setsF, forEachDescendant(cxxStdInitializerListExpr(inF).bind("initializer_list")))',
    'binaryOperator(hasAnyOperatorName("&&", "||"), own, mayAwait, setsF, hasRHS(awaited), hasLHS(hasDescendant(temporaryHere)),'
    ' unless(hasLHS(awaited))).bind("short_circuit")',
    'functionDecl(own, hasBody(coroutineBodyStmt()), notLambda, decl().bind("f"), unless(hasDescendant(ownVariable)),'
    f' forEachDescendant(stmt(anyOf({CONDITIONS}), inF).bind("condition")))',
    'expr(discardable, own, hasParent(statement)).bind("discarded_result")',
    'exprWithCleanups(hasParent(statement), own, has(expr(anyOf(discardable, cxxBindTemporaryExpr(has(discardable)))))).bind("discarded_result")',
    'cxxBindTemporaryExpr(has(discardable), own, hasParent(statement)).bind("discarded_result")',
]


def script():
    """The commands for clang-query."""
    lines = ["set output diag", "set bind-root false", "set traversal AsIs", PRELUDE.strip()]
    # One walk over the syntax tree for all statements, and one for functions.
    on_statements = [matcher for matcher in MATCHERS if not matcher.startswith("functionDecl")]
    lines.append(f"match stmt(unless(isExpansionInSystemHeader()), eachOf({', '.join(on_statements)}))")
    lines += [f"match {matcher}" for matcher in MATCHERS if matcher.startswith("functionDecl")]
    return "\n".join(lines) + "\n"
