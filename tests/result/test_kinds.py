"""What a call returns, as name and description say it."""

from __future__ import annotations

import pytest
from tools_of import LEXICON, definition, result, tools

from dowbench.result import describe

LISTS = [
    ("list_tickets", "Lists open tickets."),
    ("tickets_list", ""),
    ("listTickets", ""),
    ("search_parts", "Searches parts by name."),
    ("get_all_parts", "Gets all parts."),
    ("get_open_orders", ""),
    ("get_parts", "Get information about parts of a shelf."),
    ("find_customers", "Finds customers by city."),
    ("news", "Returns the latest news on a topic."),
    ("list_or_get", "Get or list the resources of a cluster."),
    ("check_shelves", "This tool retrieves a list of shelves that need care."),
    ("scan_network", "Scans a network to find open ports."),
    ("part_search_tool", "A tool that can be used to search a query in the parts list."),
    ("resolve_part", "Resolves the name of a part and returns matching parts."),
    ("web_lookup", "Performs a search of the web."),
    ("get_order_status", "Gets the status of all orders."),
    ("get_sheet", "Gets data from a sheet of the workbook."),
    ("get_page_errors", "Check the errors of our pages."),
    ("check_inbox", "Checks the inbox."),
    ("job_status", "Checks the status of a job and retrieves results when it is done."),
    ("review_comments", "See what customers said on a part."),
    ("lookup_reviews", "Looks up the reviews customers wrote about a part."),
    ("shelf_history", "Everything the crew wrote about a shelf."),
    ("nearby_shelves", "Shelves near a door."),
    ("lint_form", "Lints a form and lists the mistakes found."),
    ("readings", "All readings of a gauge."),
    ("suggest_parts", "Suggests parts for a machine."),
    ("list_sessions", "Lists the sessions of a user."),
    ("nearest_stops", ""),
    ("get_matches", "Returns the matches a team has played in a season."),
    ("get_past_rates", "Gets historical exchange rates of a currency."),
    ("option_chain", "Gets the option chain of a share."),
    ("scan_host", "Runs a port scan against a host."),
    ("audit_packages", "Audits the packages of a project."),
    ("style_sheets", "All style sheets of the theme."),
    ("get_stream", "Gets information about one or more streams."),
    ("Books of a publisher", "One publisher's books. Try sort='cheapest'."),
    ("get_values", "Gets data from a sheet of the workbook."),
    ("list_customers", "Lists available customers."),
    ("list_letters", "Lists all letters that are currently open."),
    ("list_voices", "Lists all voices."),
    ("get_mill_facts", "Gets facts.\n\nReturns:\n    Dictionary with all known facts of the mill"),
    ("search_voices", "Searches the voices of the library."),
    ("diagnose_pumps", "Diagnoses all pumps of a plant."),
    ("get_shelf_details", "Gets all tags and notes of a shelf."),
    ("get_sections", "Gets the sections of a law."),
    ("list_symbols", "Lists the symbols traded at an exchange."),
]
DOCUMENTS = [
    ("read_page", "Reads a page of the wiki."),
    ("get_page", "Gets the content of a page as markdown."),
    ("fetch_url", "Fetches a URL."),
    ("scrape_site", "Scrapes a website."),
    ("get_build_log", "Gets the log of a build."),
    ("get_transcript", "Retrieves the transcript of a call."),
    ("get_manual", "Fetches up-to-date documentation of a machine."),
    ("get_message", "Gets a mail message from the mailbox by id."),
    ("get_request", "Fetches the title, body and comments of a request."),
    ("get_story_with_comments", "Gets a story with its comments."),
    ("open_page", "Opens a page and returns its content."),
    ("export_book", "Returns the workbook as base64-encoded bytes."),
    ("parse_upload", "Parses a file."),
    ("to_markdown", "Converts a web page to markdown."),
    ("line_blame", "Show who last changed what."),
    ("get_outline", "Gets the structure of a manuscript."),
    ("complexity_report", "Displays the report on the complexity."),
    ("get_release_notes", "Gets the release notes of a version."),
    ("inspect_fault", "Retrieves the cause, stacktrace and tags of a fault."),
    ("ReadManual", "Fetches an instance of a Manual."),
    ("check_job_status", "Checks a job. Returns: state and progress, including results if available."),
    ("get_test_report", "Gets the test report of a batch."),
]
RECORDS = [
    ("get_order", "Gets an order by its id."),
    ("get_order_details", "Gets the details of an order."),
    ("get_weather", "Gets the current weather of a city."),
    ("lookup_part", "Looks up a part."),
    ("find_user_id", "Finds the id of a user by name."),
    ("get_url", "Returns the URL of the current page."),
    ("list_currencies", "Lists the supported currencies."),
    ("count_orders", "Gets the number of orders."),
    ("describe_machine", "Describes a machine."),
    ("get_statistics", "Gets statistics of a player."),
    ("list_sessions", "Lists all active sessions."),
    ("list_open_tabs", "Lists the tabs."),
    ("tab_list", "Gets a list of the open tabs."),
    ("list_indexes", "Describes the indexes of a collection."),
    ("get_health_checks_summary", "Gets a health overview of all machines with all checks."),
    ("get_health_performance", "Gets detailed performance metrics."),
    ("machine_facts", "Gets the facts of a machine."),
    ("get_ward", "Returns the complete record of a ward."),
    ("monitors_get", "Gets the specified monitor."),
    ("whois_lookup", "Looks up the whois record of a domain."),
    ("list_single_group", "Retrieves details of a single group."),
    ("filter_count", ""),
    ("fetch_insights", "Fetches aggregated insights into shops by city."),
    ("projects_get", "Gets details about specific projects."),
    ("list_views", "Gets a list of windows open on the desk."),
    ("list_decks", "Lists all presentations that are currently loaded."),
    ("list_speakers", "Lists the speakers available in the hall."),
    ("get_models", "Returns information about the available models."),
    ("list_voices", "Lists the voices that are available."),
    ("list_teams", "Lists the teams of the account."),
    ("get_toc", "Returns the table of contents."),
    ("get_tide_times", "Gets the times of high water."),
    ("street_suggestions", "Returns suggestions for the rest of a street's name."),
    ("get_smog", "Gets the air quality of a town. Returns both the local index and its parts."),
    ("get_shelf_details", "Gets the tags and place of a shelf."),
    ("crawl_status", "Looks at a crawl that was begun earlier."),
    ("look_at_scan", "One-shot check of a scan. Returns the status payload of it."),
    ("list_policy", "Returns the current configuration."),
    ("list_connections", "Lists all available database connections."),
    ("quill_profile", "Never summarize it. Gets the profile of a writer."),
    ("call_states", "Shows the state of live phone conversations."),
    ("ReadScan", "Fetches an instance of a Scan."),
    ("get_pump_guidance", "Gets guidance on pumps. Returns a list of valves."),
]
ACKS = [
    ("create_ticket", "Creates a ticket."),
    ("send_mail", "Sends a mail to a customer."),
    ("ticket_close", "Closes a ticket."),
    ("order_cancel", ""),
    ("manage_todo_list", "Creates a to-do list."),
    ("post_reply", "Posts a reply to a thread."),
    ("click", "Clicks an element of the page."),
    ("ask_user", "Asks the user a question."),
    ("make_chart", "Draws a chart and saves it to a file."),
    ("print_entities", "Prints the entities that were found."),
    ("search_feedback", "Sends feedback on the results of a search."),
    ("search_rating", "Stores what a user thinks of a search. Returns: { success, id }"),
    ("open_tab", "Opens a tab."),
    ("list_heap_objects", "List the objects of the heap and write them to disk."),
    ("dump_heap", "Dumps the heap of a process to a file."),
    ("expect_answer", "Asks the driver to start waiting for an answer."),
    ("run_pump_action", "Runs an action on a pump."),
    ("export_slides", "Exports slides and returns a download link."),
]
SCALARS = [
    ("calculator", "Calculates the value of an expression."),
    ("convert_length", "Converts a length between units."),
    ("validate_form", "Validates a form."),
    ("query_checker", "Checks a query for mistakes."),
    ("check_name", "Checks whether a name is free."),
    ("check_files", "Checks files for mistakes."),
    ("max_of_list", "Computes the largest number."),
    ("scan_text", "Scans a text."),
    ("is_list_empty", "Tells whether the list is empty."),
    ("list_is_sorted", "Whether the list is sorted."),
    ("has_open_orders", ""),
]
PICTURES = [
    ("get_snapshot", "Gets a JPEG snapshot from a camera. Returns a base64-encoded image/jpeg."),
    ("capture_base64", "Captures one frame of a camera and returns a base64 string."),
]
GENERATIONS = [
    ("ask_expert", "Asks an expert system a question."),
    ("summarize_report", "Summarizes a report."),
    ("chat_completion", "Creates a chat completion."),
    ("describe_picture", "Describes a picture with a vision LLM."),
]


@pytest.mark.parametrize(
    ("kind", "name", "description"),
    [
        (kind, *case)
        for kind, cases in (
            ("list", LISTS),
            ("document", DOCUMENTS),
            ("record", RECORDS),
            ("ack", ACKS),
            ("scalar", SCALARS),
            ("media", PICTURES),
            ("generation", GENERATIONS),
        )
        for case in cases
    ],
)
def test_name_and_description_say_what_comes_back(kind: str, name: str, description: str) -> None:
    assert result(name, description, url="string").kind == kind


def test_a_description_beats_a_vague_name() -> None:
    assert result("orders", "Cancels an order.").kind == "ack"
    assert result("shelf", "Lists orders.").kind == "list"


def test_a_model_that_reasons_writes_its_answer() -> None:
    said = "Analyzes a question using step-by-step reasoning (Oracle Agent API)."
    assert result("oracle_reason", said, messages="array!").kind == "generation"
    assert result("analyze_load", "Analyzes the load of a beam.", beam="string!").kind == "scalar"


def test_a_switch_that_adds_the_text_tells_of_a_document() -> None:
    assert result("get_note", "Gets a message.", id="string!", include_body_html="boolean").kind == "document"
    assert result("get_order", "Gets an order.", id="string!", include_lines="boolean").kind == "record"


def test_all_that_is_scanned_comes_back() -> None:
    assert result("scan_nodes", "Scans all nodes of a frame.", frame="string!").kind == "list"
    assert result("scan_nodes", "Scans all nodes of a text.", text="string!").kind == "scalar"


def test_an_unknown_verb_is_one() -> None:
    assert result("frob_sheets", "Frobnicates the sheets. Returns: Dictionary with failures.").kind == "unknown"
    assert result("frob_sheets", "Frobnicates the sheets. Returns a list of failures.").kind == "list"
    assert result("list_sheets", "Frobnicates the sheets.").kind == "list"
    assert result("notes", "Everything the crew wrote.").kind == "list"


def test_nothing_known_is_unknown() -> None:
    found = result("warmup", "Prepares the engine.")
    assert (found.kind, found.reads, found.bound) == ("unknown", False, "none")


def test_a_name_without_words_has_a_result() -> None:
    assert result("_", "0Return").kind == "unknown"


def test_what_the_caller_names_one_by_one_is_as_long_as_the_question() -> None:
    assert result("get_users", "Gets users.", user_ids={"type": "array"}).kind == "list"
    found = result("get_users", "Gets users.", user_ids="array!")
    assert found.kind == "record"
    item = {"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]}
    (tool,) = tools(definition("batch_read_orders", "Retrieves several orders by their ids.", wanted="array!"))
    assert describe(tool, LEXICON).kind == "document"
    made = definition("batch_read_orders", "Retrieves several orders by their ids.", wanted="array!")
    made["inputSchema"]["properties"]["wanted"]["items"] = item
    (tool,) = tools(made)
    assert describe(tool, LEXICON).kind == "record"


def test_one_thing_for_each_that_is_passed_in() -> None:
    assert result("get_coordinates", "Gets coordinates of several cities.", cities="array").kind == "record"
    assert result("search_cities", "Searches cities.", cities="array").kind == "list"
    assert result("eval_terms", "Evaluates terms and returns the values.", terms="array!").kind != "list"
    assert result("find_ships", "Finds ships. Returns one result per name.", names="array").kind == "record"
    assert result("find_ships", "Finds ships. Returns one result for each name.", names="array").kind == "record"
    assert result("find_ships", "Finds ships. Returns one list per name.", names="array").kind == "list"
    assert result("find_ships", "Finds ships. Returns one result per name.", names="string").kind == "list"
    assert result("get_coordinates", "Gets coordinates of several cities.", cities="array", to="string").kind == "list"


def test_an_output_with_an_id_is_one_thing() -> None:
    fields = {"id": {"type": "string"}, "status": {"type": "string"}, "tags": {"type": "array"}}
    assert result("imports_get", "Get import.", output={"type": "object", "properties": fields}).kind == "record"
    del fields["id"]
    assert result("imports_get", "Get import.", output={"type": "object", "properties": fields}).kind == "list"


def test_a_document_with_fields_is_one_where_one_of_them_is_long() -> None:
    fields = {name: {"type": "string"} for name in ("title", "url", "words", "language")}
    told = ("get_talk", "Fetches the transcript of a talk.")
    assert result(*told, output={"type": "object", "properties": fields}).kind == "record"
    fields["timeline"] = {"type": "array"}
    assert result(*told, output={"type": "object", "properties": fields}).kind == "document"


def test_parts_of_one_thing_are_few() -> None:
    assert result("get_sections", "Gets the sections of a manual.", title="string!").kind == "record"
    assert result("list_symbols", "Lists the symbols of a file.", path="string!").kind == "record"
    assert result("get_sections", "Gets the sections of manuals.", title="array!").kind == "list"
    assert result("list_symbols", "Lists the symbols of a file.", path="string").kind == "list"


def test_by_its_id_comes_one_thing_whatever_its_name() -> None:
    assert result("getShelvesById", "", id="string!").kind == "record"
    assert result("get_boxes", "Gets boxes by their id.", box="string!").kind == "record"
    assert result("getLettersById", "Gets pages of a letter.", id="string!", part="string!").kind == "list"
    assert result("get_boxes", "Gets boxes by shelf id.", shelf="string!").kind == "list"


def test_a_request_to_an_address_returns_what_that_answers() -> None:
    assert result("patch_request", "Use this to PATCH content.", url_template="string!").kind == "text"
    assert result("delete_requests", "Deletes what is there.", endpoint="string!").kind == "text"
    assert result("delete_request", "Deletes a request.", request_id="string!").kind == "ack"
    assert result("approve_request", "Approves a request.", url="string!").kind == "ack"


def test_what_is_opened_by_a_name_comes_back() -> None:
    assert result("open_nodes", "Opens nodes of the graph by their names.", names="array!").kind == "list"


def test_a_result_that_is_written_to_a_file_does_not_come_back() -> None:
    assert result("export_log", "Gets the log of a build.", output_path="string!").kind == "ack"
    assert result("export_log", "Gets the log of a build.", output_path="string").kind == "document"
    folder = {"type": "string", "description": "Where they go. Defaults to the folder of the film."}
    assert result("extract_stills", "Extracts stills of a film.", output_dir=folder).kind == "ack"
    folder = {"type": "string", "description": "Where they go. By default they are returned."}
    assert result("extract_stills", "Extracts stills of a film.", output_dir=folder).kind == "document"


def test_what_could_be_saved_comes_back_where_no_place_is_given() -> None:
    place = {"type": "string", "description": "A file for the body. Without it the body is returned inline."}
    assert result("get_exchange", "Gets one exchange with the server.", body_file=place).kind == "document"
    place["description"] = "A file for the body. Without it nothing is kept."
    assert result("get_exchange", "Gets one exchange with the server.", body_file=place).kind == "record"


def test_a_description_may_list_the_commands_of_a_parameter() -> None:
    text = "Keeps remarks.\n\nCommands:\n  add <title> <text>  - keep one\n  {} <words> - look for some\n\nBe brief."
    assert result("remarks", text.format("search"), command="string!").kind == "list"
    assert result("remarks", text.format("drop"), command="string!").kind == "ack"
    assert result("remarks", text.format("search"), title="string!").kind == "ack"


def test_an_agent_that_is_started_answers_later() -> None:
    text = "Asks an agent to look into a matter. {}"
    assert result("ask_agent", text.format(""), prompt="string!").bound == "none"
    for said in ("Returns a handle immediately.", "It does not wait.", "The agent runs in the background."):
        later = result("ask_agent", text.format(said), prompt="string!")
        assert (later.kind, later.bound) == ("generation", "later")
    for said in ("Do not wait for the user.", "It does not block other tools."):
        assert result("ask_agent", text.format(said), prompt="string!").bound == "none"


def test_a_page_that_must_be_named_is_a_place_to_write_to() -> None:
    assert not result("set_picture", "Sets a picture on a page.", page_index="integer!").continuations
    assert result("list_pictures", "Lists pictures.", page_index="integer!").continuations


def test_a_sentence_with_an_unknown_verb_is_no_title() -> None:
    assert result("unsettle_requests", "Unsettle every request to a server.").kind == "unknown"
    assert result("server_requests", "Every request to a server.").kind == "list"


def test_an_output_of_single_short_values_is_a_record() -> None:
    fields = {"celsius": {"type": "number"}, "sky": {"type": "string"}}
    assert result("get_readings", "Gets readings.", output={"type": "object", "properties": fields}).kind == "record"
    fields["text"] = {"type": "string"}
    assert result("get_readings", "Gets readings.", output={"type": "object", "properties": fields}).kind == "list"


def test_a_call_that_is_passed_on_returns_text() -> None:
    assert result("call_tool", "Calls one of the connected tools.", name="string").kind == "text"
    assert result("http", "Makes an HTTP request.", url="string").kind == "text"


def test_an_operation_that_the_caller_picks_returns_whatever_that_returns() -> None:
    assert result("run", "Runs one of the operations.", operation="string!", parameters="object").kind == "text"
    methods = {"type": "string", "enum": ["GET", "POST", "DELETE"]}
    assert result("api", "Sends a request.", method=methods, path="string!").kind == "text"
    assert result("run", "Runs a job.", operation="string!").kind == "unknown"
    fixed = {"type": "string", "enum": ["insert", "update"]}
    assert result("run", "Runs operations.", operation=fixed, data="object").kind == "unknown"
    told = {"type": "object", "properties": {"to": {"type": "string"}}}
    assert result("run", "Runs a job.", operation="string!", parameters=told).kind == "unknown"


def test_of_several_commands_the_one_that_returns_most_counts() -> None:
    commands = {"type": "string", "enum": ["create", "delete", "list"]}
    assert result("notes", "Manages notes.", command=commands).kind == "list"
    assert result("contexts", "Manages contexts.", command=commands).kind == "ack"
    assert result("notes", "Manages notes.", command={"type": "string", "enum": ["create", "view"]}).kind == "document"
    assert result("note", "Manages a note.", command={"type": "string", "enum": ["create", "get"]}).kind == "ack"
    assert result("notes", "Manages notes.", colour=commands).kind == "ack"
    gets = {"type": "string", "enum": ["get", "drop"]}
    assert result("manage_triggers", "Manages triggers.", operation=gets).kind == "list"
    assert result("manage_trigger", "Manages a trigger.", operation=gets).kind == "ack"


def test_between_two_points_in_time_lies_one_entry_for_each() -> None:
    assert result("get_cost", "Gets the cost.", start_date="string!", end_date="string!").kind == "list"
    assert result("get_cost", "Gets the cost.", start_date="string!").kind == "record"
    assert result("get_quota", "Gets the quota.", start_date="string!", end_date="string!").kind == "record"


def test_data_is_a_list_unless_it_is_that_of_one_thing_or_of_a_record() -> None:
    assert result("look_up", "Gets ownership data.", ticker="string!").kind == "list"
    assert result("look_up", "Gets elevation data.", point="string!").kind == "record"
    assert result("look_up", "Gets driver data.", driver_id="string!").kind == "record"
    assert result("get_driver_info", "Gets trip data.", plate="string!").kind == "record"


def test_a_record_that_returns_parts_is_still_a_record() -> None:
    assert result("get_conditions", "Gets an observation. Returns readings of gauges.").kind == "record"
    assert result("get_conditions", "Gets an observation. Returns a list of readings of gauges.").kind == "list"
    assert result("get_gauge", "Gets a gauge. Use list_gauges, which returns all gauges.").kind == "record"


def test_a_signature_before_the_description_and_the_returns_of_a_docstring() -> None:
    assert result("load", "load(ids: list) -> str\nLoads content of pages.").kind == "document"
    assert result("load", "load(ids: list) -> str").kind == "unknown"
    assert result("warmup", "Prepares parts.\n\nReturns:\n    JSON string with the matching parts").kind == "list"
    assert result("warmup", "Prepares parts.\n\nReturns:\n    JSON string").kind == "unknown"


def test_what_others_write_is_external() -> None:
    assert result("search_web", "Searches the web.").external
    assert not result("get_shelves", "Gets the shelves of the hall.").external


def test_the_word_that_all_names_begin_with_is_no_verb() -> None:
    (tool,) = tools(definition("unblock_page_fetch", url="string!"))
    assert describe(tool, LEXICON).kind == "ack"
    assert describe(tool, LEXICON, namespace="unblock").kind == "document"
    (lister,) = tools(definition("get_boats", "Boats."))
    assert describe(lister, LEXICON, namespace="get").kind == "list"
