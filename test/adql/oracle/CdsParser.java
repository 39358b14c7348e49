/** Reads queries in ADQL, one a line in Base64, and prints a line for each: 1 where the parser of the CDS accepts it, else 0. */
import adql.parser.ADQLParser;
import adql.parser.ParseException;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.Base64;

class CdsParser {
  public static void main(String[] args) throws Exception {
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    StringBuilder out = new StringBuilder();
    for (String line = in.readLine(); line != null; line = in.readLine()) {
      String query = new String(Base64.getDecoder().decode(line), StandardCharsets.UTF_8);
      String said = "1";
      try {
        new ADQLParser().parseQuery(query);
      } catch (ParseException | Error e) {
        said = "0 " + String.valueOf(e.getMessage()).replaceAll("\\s+", " ");
      }
      out.append(said).append('\n');
    }
    System.out.print(out);
  }
}
